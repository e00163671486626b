//! What the testing kits run with what the command line has: the project's plugins, policies, the page.

mod made_package;
mod plugins;
mod policies;

use std::sync::Arc;

use maloko_core::error::{Error, Result};
use maloko_core::provider::ProviderHost;
use maloko_core::{Engine, ProgramEnd};
use maloko_kit::{RecordForPage, Report, Run, RunRequest, TestStack};

use policies::PoliciesForTests;

pub use plugins::plugin_under_test;
pub(crate) use plugins::schema_under_test;

/// One operation on a stack of a test, with the plugins, the policies and the page that its order asks for.
pub struct RunForTests {
    run: Run,
    policies: Option<PoliciesForTests>,
}

impl RunForTests {
    /// Begins it. `host` calls providers, and the policies that are functions of the test.
    ///
    /// # Errors
    /// An order that cannot be followed, a pack that does not start, and a state that cannot be opened.
    pub async fn begin(stack: &TestStack, order: &RunRequest, host: Arc<dyn ProviderHost>) -> Result<Self> {
        let plugins = order.plugins.as_ref().map(|folder| plugins::of_directory(folder, stack.plain_config(order)));
        let plugins = plugins.transpose().map_err(refused)?;
        let record = order.page.then_some(crate::page::record_for_page as RecordForPage);
        let policies = PoliciesForTests::start(order, stack, Arc::clone(&host)).await.map_err(refused)?;
        let looking = PoliciesForTests::of_run(policies.as_ref());
        let begun = stack.begin(order, host, plugins, looking, record).await;
        match (&begun, &policies) {
            (Ok(run), Some(policies)) => policies.bind(run.engine()),
            (Err(_), Some(policies)) => policies.end().await,
            (_, None) => {}
        }
        Ok(Self { run: begun?, policies })
    }

    /// The engine, for the program.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        self.run.engine()
    }

    /// Ends it once the program has ended.
    ///
    /// # Errors
    /// A defect of maloko: a state that could not be written is in the report.
    pub async fn finish(&self, end: ProgramEnd) -> Result<Arc<Report>> {
        let report = self.run.finish(end).await;
        if let Some(policies) = &self.policies {
            policies.end().await;
        }
        report
    }
}

fn refused(reason: String) -> Error {
    Error::Configuration(reason.into())
}
