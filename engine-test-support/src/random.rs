//! Random numbers that a seed determines (splitmix64). By hand for the reason of `engine-model/src/random.rs`: the figures of
//! docs/internals/reliability.md belong to seeds.

/// A generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of one case of one seed.
    pub fn new(seed: u64, case: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ case.wrapping_mul(0xd1b5_4a32_d192_ed03));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 when `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end as u64).max(1)).unwrap()
    }
}

/// A number from the environment, such as the seed of a run that is to be repeated.
pub fn setting(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().map_or(usual, |text| text.parse().unwrap())
}
