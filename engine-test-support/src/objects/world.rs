//! What tests give a store.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt, Shared, select};
pub use maloko_core::environment::Workers;
use maloko_core::environment::{Environment, Identity, Worker};
use maloko_core::holder::RunAttempt;
use maloko_core::state::{Backend, StackName};
use maloko_stores::World;
use maloko_stores::object::{ObjectBackend, Timing};
use object_store::ObjectStore;
use object_store::memory::InMemory;

/// A variable of the environment.
pub type Secret = (&'static str, &'static str);

/// A world with these variables.
pub fn world(variables: &'static [Secret]) -> World {
    World {
        variables: Arc::new(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        }),
        home: None,
        environment: Environment::system(),
        notify: Arc::new(|_| {}),
    }
}

/// What a store has told so far.
pub type ToldLines = Arc<Mutex<Vec<String>>>;

/// A world with these variables, and what is told in it.
pub fn overheard(variables: &'static [Secret]) -> (World, ToldLines) {
    let said = ToldLines::default();
    let heard = Arc::clone(&said);
    let notify = Arc::new(move |text: &str| heard.lock().unwrap().push(text.to_owned()));
    (World { notify, ..world(variables) }, said)
}

/// The same world for an attempt at some work.
pub fn attempting(world: World, run: &str, number: u64) -> World {
    let attempt = Some(RunAttempt { run: run.to_owned(), number });
    let identity = Arc::new(Identity { attempt, ..(*world.environment.identity).clone() });
    World { environment: Environment { identity, ..world.environment }, ..world }
}

/// A world in which nobody else is: who is told of another holder has taken a write of its own for that of another, and would
/// wait for itself as long as the patience lasts, again and again.
pub fn alone(variables: &'static [Secret]) -> World {
    let notify = Arc::new(|text: &str| panic!("a write of our own was not recognised: {text}"));
    World { notify, ..world(variables) }
}

/// Times in which a holder that is silent is soon taken over, in the proportions of the real ones.
pub fn brisk() -> Timing {
    let [beat, trust, patience, poll] = [250, 750, 1500, 50].map(Duration::from_millis);
    Timing { beat, trust, patience, poll }
}

/// Times in which nobody is taken over, however slow the machine is.
pub fn steady() -> Timing {
    let [beat, trust, patience, poll] = [250, 20_000, 60_000, 50].map(Duration::from_millis);
    Timing { beat, trust, patience, poll }
}

/// A store in memory, as one machine sees it.
pub fn over(store: &Arc<InMemory>) -> ObjectBackend {
    over_any(Arc::clone(store) as Arc<dyn ObjectStore>)
}

/// The same over any store of objects.
pub fn over_any(store: Arc<dyn ObjectStore>) -> ObjectBackend {
    ObjectBackend::over(store, world(&[]), steady())
}

/// The stack of the tests.
pub fn stack() -> StackName {
    StackName::new("shop", "dev").unwrap()
}

/// A checkpoint with nothing in it.
pub const CHECKPOINT: &[u8] = b"{\"version\": 3, \"checkpoint\": {}}";

/// A store that holds the stack.
pub async fn with_stack(backend: &dyn Backend) {
    backend.create(&stack(), CHECKPOINT).await.unwrap();
}

/// Waits for something that must come about.
pub fn block<T>(future: impl Future<Output = T>) -> T {
    futures::executor::block_on(future)
}

/// A process that can be killed: then its threads are gone, and nothing is given back.
pub struct Mortal {
    alive: Mutex<Option<oneshot::Sender<()>>>,
    killed: Shared<oneshot::Receiver<()>>,
}

impl Default for Mortal {
    fn default() -> Self {
        let (alive, killed) = oneshot::channel();
        Self { alive: Mutex::new(Some(alive)), killed: killed.shared() }
    }
}

impl Mortal {
    /// Starts its threads.
    pub fn workers(&self) -> Arc<dyn Workers> {
        Arc::new(Threads { real: Environment::system().workers, killed: self.killed.clone() })
    }

    /// Ends all of them.
    pub fn kill(&self) {
        self.alive.lock().unwrap().take();
    }
}

struct Threads {
    real: Arc<dyn Workers>,
    killed: Shared<oneshot::Receiver<()>>,
}

impl Workers for Threads {
    fn start(&self, name: &str, work: BoxFuture<'static, ()>) -> std::io::Result<Box<dyn Worker>> {
        if self.killed.clone().now_or_never().is_some() {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        self.real.start(name, select(work, self.killed.clone()).map(drop).boxed())
    }
}
