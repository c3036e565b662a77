// Command benchmarks holds oncehttp beside other clients that retry, in all that
// it promises and in what it costs, and prints one table for each claim:
//
//	go run ./benchmarks              all, in less than three minutes
//	go run ./benchmarks -long        outages of a minute
//	go run ./benchmarks -only cost   one of them
//
// Everything runs on loopback sockets of this process or its children, and every
// figure of a table is from the same run. The tests of this module hold our side
// of every claim; of the others they only ask that they ran.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

func main() {
	if isChild() {
		os.Exit(runChild())
	}
	goOn := flag.Bool("long", false, "outages of a minute")
	only := flag.String("only", "", "the `name` of one comparison")
	flag.Parse()
	size := usual
	if *goOn {
		size = long
	}
	start := time.Now()
	fmt.Printf("%s, %s/%s, %d processors, %s.\n\n", start.Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), runtime.Version())
	found := false
	for _, c := range comparisons() {
		if *only == "" || *only == c.name {
			found = true
			c.print(os.Stdout, c.run(size))
		}
	}
	if !found {
		fmt.Fprintf(os.Stderr, "there is no comparison %q; these are: %v\n", *only, names())
		os.Exit(2)
	}
	fmt.Fprintf(os.Stderr, "%.0f s\n", time.Since(start).Seconds())
}

func comparisons() []comparison {
	return []comparison{resends, lostAnswers, kills, outage, delays, retryAfter, hygiene, uploads, certificates, layers, cost, cancels, secrets}
}

func names() []string {
	var all []string
	for _, c := range comparisons() {
		all = append(all, c.name)
	}
	return all
}
