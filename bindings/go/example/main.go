// Asks a model about names: go run ./example MODEL NAME...
package main

import (
	"fmt"
	"os"

	"birthmark"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "expected MODEL NAME...")
		os.Exit(2)
	}
	model, err := birthmark.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	mode, keys := uint32(0o600), model.Predicates()
	for _, name := range os.Args[2:] {
		fmt.Println(name)
		said := model.Say(birthmark.Create{Name: []byte(name), Mode: &mode}) // no uid, gid, client
		for i, each := range said {
			likely := "-"
			if each.Probability != 0 {
				likely = fmt.Sprintf("%.4f", each.Probability)
			}
			fmt.Printf("  %s %s %s\n", keys[i], each.Word, likely)
		}
	}
}
