//! What was asked of an operation, whichever command it came from.

use std::path::PathBuf;
use std::sync::Arc;

use maloko_core::event::Summary;
use maloko_core::operation::{Operation, OperationKind};
use maloko_core::{Report, SparedResources};

use crate::arguments::{
    ConfirmArguments, DestroyArguments, ImportArguments, OperateArguments, PolicyPackArguments, PolicyShowArguments,
    PreviewArguments, RefreshArguments, UpArguments,
};

use super::import::ImportRequest;
use crate::plain::count;

/// An operation as it was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The verb as the engine knows it.
    pub(crate) kind: OperationKind,
    /// The verb as the user wrote it.
    pub(crate) verb: &'static str,
    /// Is it the command `preview`?
    pub(crate) is_preview_command: bool,
    /// Flags shared by all.
    pub(crate) operate: OperateArguments,
    /// How it is confirmed; empty for `preview`.
    pub(crate) confirm: ConfirmArguments,
    /// Which secrets provider the stack gets, if this makes it.
    pub(crate) secrets_provider: Option<String>,
    /// `--refresh`, if it was given.
    pub(crate) refresh: Option<bool>,
    /// Resources to replace.
    pub(crate) replace: Vec<String>,
    /// Update resources whose provider's code has changed?
    pub(crate) update_changed_providers: bool,
    /// Is an import of an object that is not as the program says an error?
    pub(crate) refuse_import_differences: bool,
    /// Resources to work on; `--target` and `--target-replace`.
    pub(crate) targets: Vec<String>,
    /// Is a change an error?
    pub(crate) expect_no_changes: bool,
    /// Delete and replace protected resources?
    pub(crate) ignore_protect: bool,
    /// `destroy`: leave protected resources in place?
    pub(crate) exclude_protected: bool,
    /// Go on after a failure?
    pub(crate) continue_on_error: bool,
    /// Does the program run?
    pub(crate) runs_program: bool,
    /// `refresh` and `destroy`: was the program asked for?
    pub(crate) asks_for_program: bool,
    /// Remove the stack when all went well?
    pub(crate) remove_stack: bool,
    /// Forget creates whose outcome is not known?
    pub(crate) clear_pending_creates: bool,
    /// The policy packs that look at its resources.
    pub(crate) policies: PolicyPackArguments,
    /// How it is shown what they find.
    pub(crate) show_policies: PolicyShowArguments,
    /// The update plan to keep to.
    pub(crate) plan: Option<PathBuf>,
    /// Where to write an update plan.
    pub(crate) save_plan: Option<PathBuf>,
    /// Where to write a list of what would be created.
    pub(crate) import_file: Option<PathBuf>,
    /// URNs of interrupted creates and the ids of the objects that they made, in turn.
    pub(crate) pending_creates: Vec<String>,
    /// Leave creates whose outcome is not known as they are?
    pub(crate) skip_pending_creates: bool,
    /// What is to be taken over.
    pub(crate) import: Option<ImportRequest>,
}

impl Request {
    fn new(kind: OperationKind, verb: &'static str, operate: OperateArguments, confirm: ConfirmArguments) -> Self {
        Self {
            kind,
            verb,
            is_preview_command: false,
            targets: operate.target.clone(),
            operate,
            confirm,
            secrets_provider: None,
            refresh: None,
            replace: Vec::new(),
            update_changed_providers: false,
            refuse_import_differences: false,
            expect_no_changes: false,
            ignore_protect: false,
            exclude_protected: false,
            continue_on_error: false,
            runs_program: true,
            asks_for_program: false,
            remove_stack: false,
            clear_pending_creates: false,
            policies: PolicyPackArguments::default(),
            show_policies: PolicyShowArguments::default(),
            plan: None,
            save_plan: None,
            import_file: None,
            pending_creates: Vec::new(),
            skip_pending_creates: false,
            import: None,
        }
    }

    /// The program is run for its live providers only, on behalf of another command.
    #[must_use]
    pub(crate) fn load(verb: &'static str) -> Self {
        let confirm = ConfirmArguments { preview_only: true, ..ConfirmArguments::default() };
        Self::new(OperationKind::Load, verb, OperateArguments::default(), confirm)
    }

    /// Is nothing to be changed by this process?
    #[must_use]
    pub(crate) fn is_dry(&self) -> bool {
        self.is_preview_command || self.confirm.preview_only || self.confirm.preview_pass.is_some()
    }

    /// The operation as the engine gets it. `config` is the stack's resolved configuration.
    #[must_use]
    pub(crate) fn operation(&self, project: &str, stack: &str, refresh_always: bool, processors: usize) -> Operation {
        Operation {
            dry_run: self.is_dry(),
            debug_messages: self.operate.run.debug,
            parallel: match self.operate.run.parallel {
                Some(number) => usize::try_from(number).unwrap_or(1).max(1),
                None => processors.saturating_mul(4).max(1),
            },
            continue_on_error: self.continue_on_error,
            refresh: self.refresh.unwrap_or(refresh_always)
                && !matches!(self.kind, OperationKind::Refresh | OperationKind::Import),
            ignore_protect: self.ignore_protect,
            exclude_protected: self.exclude_protected,
            targets: self.targets.clone(),
            target_dependents: self.operate.target_dependents,
            excludes: self.operate.exclude.clone(),
            exclude_dependents: self.operate.exclude_dependents,
            replace: self.replace.clone(),
            update_changed_providers: self.update_changed_providers,
            refuse_import_differences: self.refuse_import_differences,
            run_program: self.runs_program,
            registers_providers: self.asks_for_program,
            config: Arc::default(),
            organization: maloko_core::state::ORGANIZATION.to_owned(),
            project_root: PathBuf::new(),
            program_directory: PathBuf::new(),
            ..Operation::new(self.kind, project, stack)
        }
    }

    /// What keeps the stack from being as the program says, where no changes were expected.
    pub(super) fn unexpected(&self, report: &Report) -> Option<String> {
        if !self.expect_no_changes {
            return None;
        }
        if has_changes(&report.summary) {
            let what = if self.is_dry() { "were proposed" } else { "were made" };
            return Some(format!("changes {what}"));
        }
        let waiting = count(report.waiting, "replacement");
        (report.waiting > 0).then(|| format!("{waiting} of an earlier run did not come to the end"))
    }

    /// What a destroy left in place, where it was to leave something.
    pub(super) fn left_in_place(&self, report: &Report) -> Option<String> {
        let SparedResources { protected, needed } = report.spared;
        let kept = count(protected, "protected resource");
        self.exclude_protected.then(|| match (protected, needed) {
            (0, _) => "No resource is protected.".to_owned(),
            (_, 0) => format!("All unprotected resources were destroyed. Still in the stack: {kept}."),
            _ => format!(
                "All unprotected resources were destroyed. Still in the stack: {kept}, and {} that they need.",
                count(needed, "resource")
            ),
        })
    }
}

fn has_changes(summary: &Summary) -> bool {
    const NO_CHANGE: [&str; 4] = ["same", "read", "read-replacement", "discard"];
    summary.changes.iter().any(|(op, number)| *number > 0 && !NO_CHANGE.contains(op))
}

impl From<UpArguments> for Request {
    fn from(arguments: UpArguments) -> Self {
        let UpArguments {
            operate,
            confirm,
            act,
            replace,
            code,
            imports,
            expect,
            failure,
            policies,
            show_policies,
            plan,
            compatibility,
        } = arguments;
        let mut request = Self::new(OperationKind::Update, "up", operate, confirm);
        request.targets.extend(replace.target_replace.iter().cloned());
        request.replace = replace.replace.into_iter().chain(replace.target_replace).collect();
        Self {
            refresh: act.refresh,
            ignore_protect: act.ignore_protect,
            update_changed_providers: code.update_changed_providers,
            refuse_import_differences: imports.refuse_import_differences,
            expect_no_changes: expect.expect_no_changes,
            continue_on_error: failure.continue_on_error,
            policies,
            show_policies,
            plan,
            secrets_provider: compatibility.secrets_provider,
            ..request
        }
    }
}

impl From<PreviewArguments> for Request {
    fn from(arguments: PreviewArguments) -> Self {
        let PreviewArguments {
            operate,
            act,
            replace,
            code,
            imports,
            expect,
            policies,
            show_policies,
            import_file,
            save_plan,
            compatibility,
        } = arguments;
        let up = UpArguments {
            operate,
            act,
            replace,
            code,
            imports,
            expect,
            policies,
            show_policies,
            compatibility,
            ..UpArguments::default()
        };
        Self { verb: "preview", is_preview_command: true, import_file, save_plan, ..Self::from(up) }
    }
}

impl From<RefreshArguments> for Request {
    fn from(arguments: RefreshArguments) -> Self {
        let RefreshArguments {
            operate,
            confirm,
            program,
            expect,
            clear_pending_creates,
            import_pending_creates,
            skip_pending_creates,
        } = arguments;
        Self {
            expect_no_changes: expect.expect_no_changes,
            runs_program: program.runs(),
            asks_for_program: program.asks_for_program(),
            clear_pending_creates,
            pending_creates: import_pending_creates,
            skip_pending_creates,
            ..Self::new(OperationKind::Refresh, "refresh", operate, confirm)
        }
    }
}

impl From<DestroyArguments> for Request {
    fn from(arguments: DestroyArguments) -> Self {
        let DestroyArguments { operate, confirm, program, act, failure, exclude_protected, remove } = arguments;
        Self {
            refresh: act.refresh,
            ignore_protect: act.ignore_protect,
            exclude_protected,
            continue_on_error: failure.continue_on_error,
            runs_program: program.runs(),
            asks_for_program: program.asks_for_program(),
            remove_stack: remove,
            ..Self::new(OperationKind::Destroy, "destroy", operate, confirm)
        }
    }
}

impl From<ImportArguments> for Request {
    fn from(arguments: ImportArguments) -> Self {
        let operate =
            OperateArguments { run: arguments.run.clone(), suppress_outputs: true, ..OperateArguments::default() };
        let confirm = arguments.confirm.clone();
        Self {
            runs_program: !arguments.no_program,
            import: Some(arguments.into()),
            ..Self::new(OperationKind::Import, "import", operate, confirm)
        }
    }
}
