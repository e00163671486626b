//! A schema as generators read it: every reference looked up, every module known.

use indexmap::IndexMap;
use serde_json::Value as Json;

/// A package, its types looked up by their place in [`Package::types`].
#[derive(Debug)]
pub struct Package {
    /// `random`.
    pub name: String,
    /// The publisher's, where the schema has one: `namespace` in `@namespace/name`.
    pub namespace: String,
    /// `1.2.3`; empty where the schema has none.
    pub version: String,
    /// What it is called on pages.
    pub display_name: String,
    /// A few sentences.
    pub description: String,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// An address.
    pub homepage: String,
    /// An SPDX name.
    pub license: String,
    /// An address.
    pub repository: String,
    /// Where its plugin comes from; empty: from the usual place.
    pub plugin_download_url: String,
    /// The plugin that becomes this package by a parameter.
    pub parameter: Option<Parameter>,
    /// Whether the package extends its plugin's own one in place of being another one.
    pub is_extension: bool,
    /// What the schema says for one language: `python`, `nodejs`.
    pub language: IndexMap<String, Json>,
    /// Configuration of the package.
    pub config: Vec<Property>,
    /// Objects and enumerations.
    pub types: Vec<TypeDefinition>,
    /// The class of explicit providers.
    pub provider: Resource,
    /// Custom resources and components, by token.
    pub resources: Vec<Resource>,
    /// Functions, those that are methods among them, by token.
    pub functions: Vec<Function>,
    /// What refers to types that the schema lacks, which are [`Type::Any`] then: `PLACE refers to 'TYPE'`.
    pub dangling: Vec<String>,
}

/// How a plugin becomes another package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// The plugin's name.
    pub plugin: String,
    /// The plugin's version.
    pub plugin_version: String,
    /// The plugin's own place to come from; empty: the usual one.
    pub plugin_download_url: String,
    /// What the plugin is given.
    pub value: Vec<u8>,
}

/// A name with its place: `random:index/randomPet:RandomPet` is `RandomPet` in the module `index/randomPet`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Token {
    /// The whole of it.
    pub text: String,
    /// The module as generators use it, after the schema's `moduleFormat`; empty at the top.
    pub module: String,
    /// The module as the token writes it.
    pub raw_module: String,
    /// The last part.
    pub name: String,
}

/// The place of a type in [`Package::types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub usize);

/// An object or an enumeration.
#[derive(Debug)]
pub struct TypeDefinition {
    /// Its name.
    pub token: Token,
    /// A text in Markdown.
    pub description: String,
    /// What it is.
    pub shape: Shape,
    /// Whether others write its code by hand.
    pub is_overlay: bool,
    /// What the schema says for one language.
    pub language: IndexMap<String, Json>,
}

/// What a type is.
#[derive(Debug)]
pub enum Shape {
    /// Named properties, sorted by name.
    Object(Vec<Property>),
    /// Values of one type.
    Enum {
        /// `string`, `integer`, `number` or `boolean`.
        base: Type,
        /// In the schema's order.
        values: Vec<EnumValue>,
    },
}

/// A value of an enumeration.
#[derive(Debug)]
pub struct EnumValue {
    /// As the schema names it; may be empty, and then the value is the name.
    pub name: String,
    /// A string, a number or a truth value.
    pub value: Json,
    /// A text in Markdown.
    pub description: String,
    /// Why it should not be used any more; empty: it may be.
    pub deprecation: String,
}

/// A property of an object, of a resource or of configuration.
#[derive(Debug, Clone)]
pub struct Property {
    /// As on the wire: `camelCase` mostly.
    pub name: String,
    /// What it holds. Without the value's optionality, which `required` says.
    pub kind: Type,
    /// Whether it has to be there.
    pub required: bool,
    /// Whether it takes no outputs.
    pub plain: bool,
    /// A text in Markdown.
    pub description: String,
    /// Its only value.
    pub constant: Option<Json>,
    /// What it is where nobody says.
    pub default: Option<Json>,
    /// Variables that say what it is where nobody does, the first one first.
    pub environment: Vec<String>,
    /// Whether it is always a secret.
    pub secret: bool,
    /// Whether another value replaces the resource.
    pub replace_on_changes: bool,
    /// Why it should not be used any more; empty: it may be.
    pub deprecation: String,
    /// What the schema says for one language, such as `{"name": ...}`.
    pub language: IndexMap<String, Json>,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// A truth value.
    Bool,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A text.
    String,
    /// Anything.
    Any,
    /// Anything, written as JSON.
    Json,
    /// A file or an archive.
    Asset,
    /// An archive.
    Archive,
    /// A list.
    List(Box<Element>),
    /// By text.
    Map(Box<Element>),
    /// An object or an enumeration of this package.
    Defined(TypeId),
    /// A token with no definition: only its underlying type is known.
    Token(Box<Type>),
    /// A resource of this package, by its token.
    Resource(Token),
    /// The provider of this package.
    Provider,
    /// A type or resource of another package.
    Elsewhere(External),
    /// One of several.
    Union(Vec<Type>),
}

/// What a list or a map holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Element {
    /// What it is.
    pub kind: Type,
    /// Whether it takes no outputs.
    pub plain: bool,
}

/// A type of another package.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct External {
    /// The package's name.
    pub package: String,
    /// The package's version; may be empty.
    pub version: String,
    /// Its token there.
    pub token: Token,
    /// Whether it is a resource.
    pub is_resource: bool,
}

/// A custom resource, a component, or the provider.
#[derive(Debug)]
pub struct Resource {
    /// Its type.
    pub token: Token,
    /// A text in Markdown.
    pub description: String,
    /// Whether the plugin makes its children.
    pub is_component: bool,
    /// Whether it is the package's provider.
    pub is_provider: bool,
    /// What it is given, sorted by name.
    pub inputs: Vec<Property>,
    /// What it has, sorted by name.
    pub outputs: Vec<Property>,
    /// What `get` takes besides the id; `None`: nothing.
    pub state: Option<Vec<Property>>,
    /// Former types.
    pub aliases: Vec<String>,
    /// Methods, by name: places in [`Package::functions`].
    pub methods: Vec<(String, usize)>,
    /// Why it should not be used any more; empty: it may be.
    pub deprecation: String,
    /// Whether others write its code by hand.
    pub is_overlay: bool,
    /// What the schema says for one language.
    pub language: IndexMap<String, Json>,
}

/// A function of the package, or a method of a resource.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub token: Token,
    /// A text in Markdown.
    pub description: String,
    /// What it is given, sorted by name; `None`: nothing at all, not even an empty object. A method's `__self__` is not in it.
    pub inputs: Option<Vec<Property>>,
    /// The names of inputs that are given one by one, in this order; empty: all in one object.
    pub positional: Vec<String>,
    /// What it gives; `None`: nothing.
    pub result: Option<Outcome>,
    /// Whether it is a method of a resource.
    pub is_method: bool,
    /// Whether there is only the form that takes and gives outputs.
    pub is_output_only: bool,
    /// Why it should not be used any more; empty: it may be.
    pub deprecation: String,
    /// Whether others write its code by hand.
    pub is_overlay: bool,
    /// What the schema says for one language.
    pub language: IndexMap<String, Json>,
}

/// What a function gives.
#[derive(Debug)]
pub enum Outcome {
    /// An object of the function's own, sorted by name. `plain`: a method that gives it at once, not as an output.
    Object {
        /// Its properties.
        properties: Vec<Property>,
        /// Whether it comes at once.
        plain: bool,
    },
    /// A value by itself.
    Value {
        /// What it is.
        kind: Type,
        /// Whether it comes at once.
        plain: bool,
    },
}

impl Package {
    /// The definition of a type.
    #[must_use]
    pub fn definition(&self, id: TypeId) -> &TypeDefinition {
        &self.types[id.0]
    }
}

/// What a schema says for one language in one member: `language.nodejs.name`.
#[must_use]
pub fn said_of<'a>(language: &'a IndexMap<String, Json>, name: &str, member: &str) -> Option<&'a Json> {
    language.get(name).and_then(|said| said.get(member))
}
