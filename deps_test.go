package oncehttp_test

import (
	_ "github.com/cenkalti/backoff/v4"
	_ "github.com/google/uuid"
	_ "github.com/stretchr/testify/assert"
	_ "github.com/stretchr/testify/require"
	_ "go.etcd.io/bbolt"
)
