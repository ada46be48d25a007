// The simplest complete bot in Go: it asks for the legal answers and picks one by chance.
// protocol.go has the types of the messages.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

var chance uint32

func choose(legal []Choice) Choice {
	chance = chance*1664525 + 1013904223
	return legal[int(chance>>16)%len(legal)]
}

// answer gives the reply to a message, or nil where none is wanted.
func answer(message Message) any {
	switch message.Type {
	case "hello":
		return Ready{Type: "ready", Name: "go", Legal: "canonical"}
	case "deal":
		chance = uint32(message.Seed)
	case "move":
		if len(message.Legal) > 0 {
			return Answer{ID: message.ID, Choice: choose(message.Legal)}
		}
	}
	return nil
}

func main() {
	// Not a Scanner: it gives up on lines of more than 64 KiB.
	input := bufio.NewReader(os.Stdin)
	output := json.NewEncoder(os.Stdout) // one line a value, written at once
	for {
		line, ended := input.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var message Message
			if err := json.Unmarshal(line, &message); err != nil {
				fmt.Fprintln(os.Stderr, "cannot read a line:", err)
			} else if reply := answer(message); reply != nil {
				output.Encode(reply)
			}
		}
		if ended != nil {
			return
		}
	}
}
