// GitHub issue labels as resources, through Octokit.
import { Octokit, type RestEndpointMethodTypes } from "@octokit/rest";
import * as pulumi from "@pulumi/pulumi";

/** What the provider's methods are given, resolved. */
interface Inputs {
    repository: string;
    label: string;
    color: string;
    description: string;
}

interface Outputs extends Inputs {
    url: string;
}

type GithubLabel = RestEndpointMethodTypes["issues"]["getLabel"]["response"]["data"];

/** Manages labels with one client, made in `configure` and used by every call of the run. */
class LabelProvider implements pulumi.dynamic.ResourceProvider<Inputs, Outputs> {
    // `declare`: without it the field would exist before `configure`, and be taken for an attribute of the object.
    private declare github: Octokit;

    async configure({ config }: pulumi.dynamic.ConfigureRequest): Promise<void> {
        this.github = new Octokit({
            auth: config.require("githubToken"),
            baseUrl: config.get("githubApi") ?? "https://api.github.com",
            log: { debug() {}, info() {}, warn: console.warn, error() {} },
        });
    }

    async check(_olds: Inputs, news: Inputs): Promise<pulumi.dynamic.CheckResult<Inputs>> {
        const failures: pulumi.dynamic.CheckFailure[] = [];
        if (!isUnknown(news.repository) && !/^[\w.-]+\/[\w.-]+$/.test(news.repository)) {
            failures.push({ property: "repository", reason: `"${news.repository}" is not of the form owner/name` });
        }
        let { color } = news;
        // YAML takes 123456 for a number.
        if (!isUnknown(color) && (typeof color !== "string" || !/^[0-9a-fA-F]{6}$/.test(color))) {
            const reason = `"${color}" is not a colour: write six hexadecimal digits, in quotes and without "#"`;
            failures.push({ property: "color", reason });
        } else {
            color = color.toLowerCase();
        }
        return { inputs: { ...news, color, description: news.description ?? "" }, failures };
    }

    async diff(_id: string, olds: Outputs, news: Inputs): Promise<pulumi.dynamic.DiffResult> {
        const keys = ["repository", "label", "color", "description"] as const;
        const changed = keys.filter((key) => olds[key] !== news[key]);
        // A label cannot move to another repository; all else is edited in place.
        const replaces = changed.filter((key) => key === "repository");
        return { changes: changed.length > 0, replaces, stables: replaces.length ? [] : ["repository"] };
    }

    /**
     * Makes the label, or adopts the one of that name.
     *
     * A run that is killed after GitHub made the label and before the state says so leaves a label behind. A name is
     * unique in its repository, so the next run's create can tell: it takes over the label that is there, and gives it
     * the colour and description asked for. The price is that a label made by hand is taken over as well.
     */
    async create(inputs: Inputs): Promise<pulumi.dynamic.CreateResult<Outputs>> {
        const { label: name, color, description, repository } = inputs;
        try {
            const { data } = await this.github.rest.issues.createLabel({ ...place(repository), name, color, description });
            return { id: String(data.id), outs: outputsOf(repository, data) };
        } catch (error) {
            if (!alreadyExists(error)) throw error;
            pulumi.log.info(`the label ${name} is there already: taking it over`);
            const { data } = await this.edit(inputs, inputs);
            return { id: String(data.id), outs: outputsOf(repository, data) };
        }
    }

    /**
     * Looks the label up: a stored one by its properties, one to `get` or to import by an id OWNER/NAME/LABEL.
     *
     * It says what the inputs would be too: an import compares them with the program's.
     */
    async read(id: string, props?: Outputs): Promise<pulumi.dynamic.ReadResult> {
        const { repository, label: name } = props?.label ? props : placeOf(id);
        try {
            const { data } = await this.github.rest.issues.getLabel({ ...place(repository), name });
            const { url, ...inputs } = outputsOf(repository, data);
            return { id: String(data.id), props: { ...inputs, url }, inputs };
        } catch (error) {
            if (statusOf(error) === 404) return { id: "" }; // an empty id says that it is gone
            throw error;
        }
    }

    async update(_id: string, olds: Outputs, news: Inputs): Promise<pulumi.dynamic.UpdateResult<Outputs>> {
        const { data } = await this.edit(olds, news);
        return { outs: outputsOf(news.repository, data) };
    }

    async delete(_id: string, props: Outputs): Promise<void> {
        try {
            await this.github.rest.issues.deleteLabel({ ...place(props.repository), name: props.label });
        } catch (error) {
            if (statusOf(error) !== 404) throw error;
            pulumi.log.info(`the label ${props.label} is gone already`);
        }
    }

    private edit(olds: Inputs, { repository, label, color, description }: Inputs) {
        return this.github.rest.issues.updateLabel({
            ...place(repository),
            name: olds.label,
            new_name: label,
            color,
            description,
        });
    }
}

function place(repository: string): { owner: string; repo: string } {
    const [owner = "", repo = ""] = repository.split("/");
    return { owner, repo };
}

/** The repository and name in an id that somebody wrote. */
function placeOf(id: string): { repository: string; label: string } {
    const [, repository, label] = /^([^/]+\/[^/]+)\/(.+)$/.exec(id) ?? [];
    if (!repository || !label) throw new Error(`"${id}" does not say which label: write OWNER/NAME/LABEL`);
    return { repository, label };
}

function statusOf(error: unknown): number | undefined {
    return (error as { status?: number }).status;
}

/** Whether GitHub refused a create because the name is taken. */
function alreadyExists(error: unknown): boolean {
    const problems = (error as { response?: { data?: { errors?: { code: string }[] } } }).response?.data?.errors ?? [];
    return statusOf(error) === 422 && problems.some(({ code }) => code === "already_exists");
}

// In a preview, what another resource has yet to answer.
function isUnknown(value: unknown): boolean {
    return value === pulumi.runtime.unknownValue;
}

function outputsOf(repository: string, { name, color, description, url }: GithubLabel): Outputs {
    return { repository, label: name, color, description: description ?? "", url };
}

export interface LabelArgs {
    repository: pulumi.Input<string>;
    /** The label's name. */
    label: pulumi.Input<string>;
    /** Six hexadecimal digits. */
    color: pulumi.Input<string>;
    description?: pulumi.Input<string>;
}

// One object for all labels: it is configured once, and its client is shared.
const labelProvider = new LabelProvider();

export class Label extends pulumi.dynamic.Resource {
    declare readonly repository: pulumi.Output<string>;
    declare readonly label: pulumi.Output<string>;
    declare readonly color: pulumi.Output<string>;
    declare readonly description: pulumi.Output<string>;
    declare readonly url: pulumi.Output<string>;

    constructor(name: string, args: LabelArgs, opts?: pulumi.CustomResourceOptions) {
        super(labelProvider, name, { description: undefined, url: undefined, ...args }, opts, "github", "Label");
    }

    /** A label OWNER/NAME/LABEL that somebody else looks after: it is read, and never changed or deleted. */
    static get(name: string, id: pulumi.Input<pulumi.ID>): Label {
        const unsaid = { repository: undefined, label: undefined, color: undefined };
        return new Label(name, unsaid as unknown as LabelArgs, { id });
    }
}
