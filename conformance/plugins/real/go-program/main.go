// A program in Go for conformance/plugins/languages.py: as many things as `size` of its configuration says, each with
// the text of the one before.
package main

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

type thing struct {
	pulumi.CustomResourceState

	Text   pulumi.StringOutput `pulumi:"text"`
	Length pulumi.IntOutput    `pulumi:"length"`
}

func main() {
	pulumi.Run(func(context *pulumi.Context) error {
		settings := config.New(context, "")
		chained := settings.GetBool("chained")
		var text pulumi.StringInput = pulumi.String(settings.Require("text"))
		for index := range settings.RequireInt("size") {
			made := &thing{}
			name := fmt.Sprintf("thing-%d", index)
			if err := context.RegisterResource("mini:index:Thing", name, pulumi.Map{"text": text}, made); err != nil {
				return err
			}
			if chained {
				text = made.Text
			}
			context.Export("length", made.Length)
		}
		fmt.Println("the program in Go has said what it wants")
		return nil
	})
}
