#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::world::FaultSchedule;

const DIRECTORY: &str = "/work";

fn disk() -> (Disk, Arc<Mutex<Volume>>) {
    let world = World::new(1, 1);
    let process = world.begin(FaultSchedule::default());
    let volume = Arc::new(Mutex::new(Volume::with_directory(Path::new(DIRECTORY))));
    (Disk::new(world, process, Arc::clone(&volume)), volume)
}

fn path(name: &str) -> PathBuf {
    Path::new(DIRECTORY).join(name)
}

fn write(disk: &Disk, name: &str, bytes: &[u8], sync: bool) {
    let mut file = disk.open(&path(name), OpenMode::New).unwrap();
    file.write_all(bytes).unwrap();
    if sync {
        file.sync_all().unwrap();
    }
}

/// What is left of a file after each of many power cuts.
fn left(volume: &Mutex<Volume>, name: &str) -> Vec<Option<Vec<u8>>> {
    let volume = volume.lock().unwrap();
    let cut = |seed| {
        let mut volume = volume.clone();
        volume.power_cut(&mut Random::new(seed, 0));
        let node = volume.find(&path(name)).ok()?;
        Some(volume.nodes[node].content.clone())
    };
    (0..200).map(cut).collect()
}

#[test]
fn what_was_synced_with_its_name_survives_every_power_cut() {
    let (disk, volume) = disk();
    write(&disk, "a", &[7; 3000], true);
    disk.sync_directory(Path::new(DIRECTORY)).unwrap();
    assert!(left(&volume, "a").iter().all(|left| left.as_deref() == Some(&[7; 3000])));
}

#[test]
fn a_name_is_lost_although_the_content_was_synced() {
    let (disk, volume) = disk();
    write(&disk, "a", &[7; 3000], true);
    let left = left(&volume, "a");
    assert!(left.iter().any(Option::is_none) && left.iter().any(Option::is_some));
}

#[test]
fn content_that_was_not_synced_is_torn_at_sectors() {
    let (disk, volume) = disk();
    write(&disk, "a", &[7; 3000], false);
    disk.sync_directory(Path::new(DIRECTORY)).unwrap();
    let left: Vec<Vec<u8>> = left(&volume, "a").into_iter().flatten().collect();
    assert_eq!(left.len(), 200);
    let is_whole = |content: &Vec<u8>| content.len() == 3000 && content.iter().all(|byte| *byte == 7);
    let has_hole = |content: &Vec<u8>| content.first() == Some(&0) && content.contains(&7);
    let is_empty = |content: &Vec<u8>| content.is_empty();
    assert!(left.iter().any(has_hole) && left.iter().any(is_empty) && !left.iter().all(is_whole));
    assert!(left.iter().all(|content| content.chunks(512).all(|s| s.iter().all(|byte| *byte == s[0]))));
}

#[test]
fn names_that_were_given_later_may_survive_earlier_ones() {
    let (disk, volume) = disk();
    write(&disk, "a", &[1], true);
    write(&disk, "b", &[2], true);
    let (first, second) = (left(&volume, "a"), left(&volume, "b"));
    assert!(first.iter().zip(&second).any(|(a, b)| a.is_none() && b.is_some()));
}

#[test]
fn a_lock_goes_with_its_process_and_not_before() {
    let (disk, volume) = disk();
    let other = Disk::new(disk.world.clone(), disk.world.begin(FaultSchedule::default()), Arc::clone(&volume));
    let held = disk.try_lock(&path("lease")).unwrap();
    assert!(held.is_some() && other.try_lock(&path("lease")).unwrap().is_none());
    disk.world.end(disk.process);
    volume.lock().unwrap().process_ended(disk.process);
    assert!(other.try_lock(&path("lease")).unwrap().is_some());
}
