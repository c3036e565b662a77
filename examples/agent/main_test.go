package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAModelThatAsksTwiceMakesOneEffect(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(&out))
	require.Equal(t, `What the model sees: [{"name":"send_mail","parameters":{"text":"string","to":"string"}},{"name":"refund","parameters":{"amount":"integer","charge":"string"}}]

step 1:
  call_a1 send_mail {"to":"mia@example.com","text":"Your refund is on its way."}
    -> Not known yet whether it was done. Do not do it in another way.
  call_b2 send_mail {"to":"mia@example.com","text":"Hi Mia! We are refunding you."}
    -> Done, with your first wording.
step 2:
  call_c3 refund {"charge":"ch_1","amount":500}
    -> Done.
  call_d4 refund {"amount":500,"charge":"ch_1"}
    -> Done.
  call_e5 refund {"charge":"ch_1","amount":900}
    -> This step already did it with another /amount. A person must decide.

mails sent: 1, refunds made: 1
`, out.String())
}
