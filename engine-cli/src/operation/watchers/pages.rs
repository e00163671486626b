//! What explains a run to people: its pages, why it took long, its summary for CI.

use std::sync::Arc;

use maloko_core::activity::ActivityWatcher;
use maloko_core::operation::Operation;
use maloko_core::state::{Session, StackName};

use crate::failure::Result;
use crate::operation::preview_outcome::PreviewOutcome;
use crate::operation::request::Request;
use crate::page;
use crate::page::{LivePage, Past, Recorder, RunPage};
use crate::workplace::Workplace;

/// The pages of a run.
#[derive(Default)]
pub(in crate::operation) struct Pages {
    /// Notes what the run does; not in a preview pass, which is no run of its own.
    pub(in crate::operation) recorder: Option<Arc<Recorder>>,
    file: Option<RunPage>,
    live: Option<LivePage>,
}

impl Pages {
    /// Has somebody note what a run does, and begins its page where one is wanted.
    pub(in crate::operation) async fn begin(
        workplace: &Workplace<'_>,
        request: &Request,
        stack: &StackName,
        plan: Option<&PreviewOutcome>,
        operation: &Operation,
        session: &Session,
    ) -> Result<Self> {
        if request.confirm.preview_pass.is_some() {
            return Ok(Self::default());
        }
        let flags = &request.operate.run;
        let now = workplace.context.environment.clock.now();
        let beginning = page::Beginning {
            message: flags.message.clone().unwrap_or_default(),
            plan: plan.map(PreviewOutcome::operations).unwrap_or_default(),
            ..page::Beginning::of(operation, request.is_preview_command, now)
        };
        let recorder = Arc::new(Recorder::new(beginning, Arc::clone(&operation.redactor), session.snapshot()));
        let mut pages = Self { recorder: Some(Arc::clone(&recorder)), ..Self::default() };
        if flags.page.is_none() && !flags.page_live {
            return Ok(pages);
        }
        let past = Arc::new(Past::of(workplace, stack).await);
        if let Some(file) = &flags.page {
            let file = workplace.context.directory.join(file);
            pages.file = Some(RunPage::begin(file, Arc::clone(&recorder), Arc::clone(&past))?);
        }
        if flags.page_live {
            let live = LivePage::begin(recorder, past, &workplace.context.environment)?;
            workplace.context.console.note(format!("Follow the run at {}", live.address));
            pages.live = Some(live);
        }
        Ok(pages)
    }

    /// Who watches what takes time.
    pub(in crate::operation) fn watcher(&self) -> Option<Arc<dyn ActivityWatcher>> {
        self.recorder.clone().map(|recorder| recorder as _)
    }

    /// Says what there is to say of the run, which is over.
    pub(in crate::operation) fn end(self, workplace: &Workplace<'_>, request: &Request) -> Result<()> {
        let (flags, console) = (&request.operate.run, &workplace.context.console);
        if let Some(live) = self.live {
            live.finish();
        }
        if let Some(file) = self.file {
            file.finish()?;
        }
        let Some(recorder) = &self.recorder else { return Ok(()) };
        if !flags.keeps_stdout_clean() && workplace.context.library.is_none() {
            recorder.slowest().iter().for_each(|line| console.line(line));
        }
        if flags.summary.is_some() {
            console.print(&page::markdown(&recorder.data(), flags.page.as_deref()));
        }
        Ok(())
    }
}
