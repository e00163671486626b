//! Verbs of Pulumi that maloko does not have. They are known, so that who calls one hears why, and what to do.

use std::ffi::OsString;

use clap::{Args, Subcommand};

/// What follows such a verb. Nobody looks at it.
#[derive(Debug, Args)]
pub(crate) struct Rest {
    /// Whatever it is.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<OsString>,
}

/// A verb with its reason.
macro_rules! verbs {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $verb:literal $reason:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Subcommand)]
        pub(crate) enum $name {
            $(
                #[doc = $reason]
                #[command(name = $verb, hide = true)]
                $variant(Rest),
            )+
        }

        impl $name {
            /// The verb, and why it is not here.
            pub(crate) fn reason(&self) -> (&'static str, &'static str) {
                match self {
                    $(Self::$variant(Rest { .. }) => ($verb, $reason),)+
                }
            }
        }
    };
}

verbs! {
    /// Verbs of the first rank.
    ElsewhereCommand {
        Console "console" "shows the stack in Pulumi Cloud, where no stack of maloko is; `maloko stack page --open` shows it in a browser",
        Convert "convert" "translates programs with code generators of Pulumi's own; let `pulumi convert` do it, and run the result here",
        Deployment "deployment" "belongs to Pulumi Cloud, which runs operations for you; let your own CI run `maloko up`",
        Do "do" "calls a provider without a program, which maloko does not do; write the resource into a program",
        Env "env" "belongs to Pulumi ESC, a service of Pulumi Cloud; keep values in the stack's configuration, with `maloko config set`",
        Insights "insights" "belongs to Pulumi Cloud, which searches through the resources of an organization",
        Logs "logs" "asks Pulumi's packages of cloud providers for logs, which maloko does not do; ask the cloud itself",
        Neo "neo" "belongs to Pulumi Cloud, whose agent works on your stacks there",
        Project "project" "belongs to Pulumi Cloud, which lists the projects of an organization; `maloko stack ls --all` lists the stacks of all projects",
        Schema "schema" "checks schemas of packages with code generators of Pulumi's own; let `pulumi schema` do it",
        Template "template" "belongs to Pulumi Cloud, which keeps templates for an organization; `maloko new DIR` takes one from a folder",
    }
}

verbs! {
    /// Verbs of `org`.
    OrgElsewhere {
        AuditLog "audit-log" "belongs to Pulumi Cloud: other backends have no organizations",
        Member "member" "belongs to Pulumi Cloud: other backends have no organizations",
        Role "role" "belongs to Pulumi Cloud: other backends have no organizations",
        Search "search" "belongs to Pulumi Cloud: other backends have no organizations",
        Usage "usage" "belongs to Pulumi Cloud: other backends have no organizations",
        Webhook "webhook" "belongs to Pulumi Cloud: other backends have no organizations",
    }
}

verbs! {
    /// Verbs of `stack`.
    StackElsewhere {
        Drift "drift" "belongs to Pulumi Cloud, which looks for drift at set times; `maloko refresh --preview-only --expect-no-changes` looks now",
        Policy "policy" "belongs to Pulumi Cloud, which keeps groups of policies for an organization",
        Schedule "schedule" "belongs to Pulumi Cloud, which runs operations at set times; let your own CI do so",
        Webhook "webhook" "belongs to Pulumi Cloud, which calls addresses when something happens; `--event-log` tells of each event of a run",
    }
}

verbs! {
    /// Verbs of `config`.
    ConfigElsewhere {
        Env "env" "belongs to Pulumi ESC, a service of Pulumi Cloud; keep values in the stack's configuration, with `maloko config set`",
    }
}

verbs! {
    /// Verbs of `state`.
    StateElsewhere {
        Promote "promote" "turns what `pulumi do` has made into a program, and maloko has no `do`; `maloko import` writes code for objects that exist",
    }
}

/// The verbs of `org`.
#[derive(Debug, Subcommand)]
pub(crate) enum OrgCommand {
    /// Show the organization that is used where none is named
    GetDefault,
    /// Choose the organization that is used where none is named
    SetDefault {
        /// Its name
        #[arg(required = true)]
        name: Vec<String>,
    },
    /// Verbs of Pulumi Cloud.
    #[command(flatten)]
    Elsewhere(OrgElsewhere),
}
