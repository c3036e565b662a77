package oncehttp

type Outcome struct{}
