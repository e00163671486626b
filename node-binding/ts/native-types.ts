// What the addon gives and takes. The shapes are those of the generated native.d.ts, which is committed beside it.

/** Kinds of messages; the numbers are those of `MessageKind` in callback.rs. */
export enum MessageKind {
    Answered = 0,
    Refused = 1,
    CallProvider = 2,
    Rebuild = 3,
    CallBack = 4,
    RunProgram = 5,
    RunPass = 6,
    ReExecute = 7,
    Stopped = 8,
    Exit = 9,
    Finished = 10,
}

export interface NativeMessage {
    kind: MessageKind;
    number: number;
    target?: number;
    code?: number;
    method?: string;
    urn?: string;
    text?: string;
    bytes?: Buffer;
}

export interface NativeBridge {
    take(): NativeMessage[];
    answer(call: number, text: string): void;
    answerBytes(call: number, bytes: Uint8Array): void;
    fail(call: number, description: string, error: number): void;
    describe(object: number, reference: string, methods: number): void;
    forget(objects: number[]): void;
    rpc(engine: number, number: number, method: string, request: Uint8Array): void;
    log(engine: number, urn: string, level: number, message: string): void;
    cancel(engine: number): void;
    runCli(args: string[], languageVersion: string, executable: string, sdkVersion: string): void;
    runOperation(number: number, settings: string): void;
    close(): void;
}
