module github.com/oncehttp/oncehttp/cmd/oncehttp

go 1.25.0

replace github.com/oncehttp/oncehttp => ../../

require (
	github.com/google/uuid v1.6.0
	github.com/oncehttp/oncehttp v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/cenkalti/backoff/v4 v4.3.0 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.45.0 // indirect
)
