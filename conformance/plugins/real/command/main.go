// A plugin of the package command with the official framework for providers in Go: its `local.Command` and `local.run`.
//
// The published plugin is no Go module. Checks, differences, secrets and unknowns are the framework's, as in that one.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// version is set by the linker to that of the SDK which is used with it.
var version = "0.0.1"

// Settings are what a command and the function have in common.
type Settings struct {
	Interpreter *[]string          `pulumi:"interpreter,optional"`
	Dir         *string            `pulumi:"dir,optional"`
	Environment *map[string]string `pulumi:"environment,optional"`
	Stdin       *string            `pulumi:"stdin,optional"`
	AddPrevious *bool              `pulumi:"addPreviousOutputInEnv,optional"`
}

// Printed is what a command printed, without the end of the last line.
type Printed struct {
	Stdout string `pulumi:"stdout"`
	Stderr string `pulumi:"stderr"`
}

// Inputs of a command.
type Inputs struct {
	Settings
	Triggers *[]any  `pulumi:"triggers,optional" provider:"replaceOnChanges"`
	Create   *string `pulumi:"create,optional"`
	Delete   *string `pulumi:"delete,optional"`
	Update   *string `pulumi:"update,optional"`
}

// State of a command.
type State struct {
	Inputs
	Printed
}

// Command runs a command at its creation, its updates and its deletion.
type Command struct{}

// Annotate gives it the module `local`, as the SDKs have it.
func (c *Command) Annotate(a infer.Annotator) { a.SetToken("local", "Command") }

// Create runs the command `create`.
func (*Command) Create(ctx context.Context, r infer.CreateRequest[Inputs]) (infer.CreateResponse[State], error) {
	state := State{Inputs: r.Inputs}
	id, err := resource.NewUniqueHex(r.Name, 8, 0)
	if err == nil && !r.DryRun {
		state.Printed, err = run(ctx, r.Inputs.Create, r.Inputs.Settings, Printed{})
	}
	return infer.CreateResponse[State]{ID: id, Output: state}, err
}

// Update runs the command `update`, or `create` where there is none.
func (*Command) Update(ctx context.Context, r infer.UpdateRequest[Inputs, State]) (infer.UpdateResponse[State], error) {
	state := State{Inputs: r.Inputs, Printed: r.State.Printed}
	command := r.Inputs.Update
	if command == nil {
		command = r.Inputs.Create
	}
	var err error
	if !r.DryRun && command != nil {
		state.Printed, err = run(ctx, command, r.Inputs.Settings, r.State.Printed)
	}
	return infer.UpdateResponse[State]{Output: state}, err
}

// Delete runs the command `delete`.
func (*Command) Delete(ctx context.Context, r infer.DeleteRequest[State]) (infer.DeleteResponse, error) {
	_, err := run(ctx, r.State.Delete, r.State.Settings, r.State.Printed)
	return infer.DeleteResponse{}, err
}

// Question is what the function `local.run` takes.
type Question struct {
	Settings
	Command string `pulumi:"command"`
}

// Answer is what the function `local.run` gives.
type Answer struct {
	Question
	Printed
}

// Run is the function.
type Run struct{}

// Annotate gives it the module `local`, as the SDKs have it.
func (f *Run) Annotate(a infer.Annotator) { a.SetToken("local", "run") }

// Invoke runs its command.
func (*Run) Invoke(ctx context.Context, r infer.FunctionRequest[Question]) (infer.FunctionResponse[Answer], error) {
	printed, err := run(ctx, &r.Input.Command, r.Input.Settings, Printed{})
	return infer.FunctionResponse[Answer]{Output: Answer{r.Input, printed}}, err
}

func run(ctx context.Context, text *string, settings Settings, before Printed) (Printed, error) {
	if text == nil {
		return Printed{}, nil
	}
	words := []string{"/bin/sh", "-c"}
	if settings.Interpreter != nil && len(*settings.Interpreter) > 0 {
		words = *settings.Interpreter
	}
	words = append(words[:len(words):len(words)], *text)
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	command.Env = os.Environ()
	if settings.AddPrevious == nil || *settings.AddPrevious {
		command.Env = append(command.Env, "PULUMI_COMMAND_STDOUT="+before.Stdout, "PULUMI_COMMAND_STDERR="+before.Stderr)
	}
	if settings.Environment != nil {
		for name, value := range *settings.Environment {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	if settings.Dir != nil {
		command.Dir = *settings.Dir
	}
	if settings.Stdin != nil {
		command.Stdin = strings.NewReader(*settings.Stdin)
	}
	err := command.Run()
	printed := Printed{strings.TrimSuffix(out.String(), "\n"), strings.TrimSuffix(problems.String(), "\n")}
	for severity, text := range map[string]string{"info": printed.Stdout, "error": printed.Stderr} {
		for _, line := range strings.Split(text, "\n") {
			if line != "" && severity == "info" {
				p.GetLogger(ctx).Info(line)
			} else if line != "" {
				p.GetLogger(ctx).Error(line)
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("%w: running %q:\n%s", err, *text, printed.Stderr)
	}
	return printed, err
}

func main() {
	command, err := infer.NewProviderBuilder().
		WithResources(infer.Resource(&Command{})).
		WithFunctions(infer.Function(&Run{})).
		Build()
	if err == nil {
		err = command.Run(context.Background(), "command", version)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
