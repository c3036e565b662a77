package mockserver

import "time"

// A Plant is a field of the request that the API keeps with the effect.
type Plant struct {
	// Kind is header, form or json, and Name as of a [Carrier]. Zero: nothing.
	Kind CarrierKind `json:"kind,omitzero"`
	Name string      `json:"name,omitzero"`
}

// A Find is a way to ask for effects by GET. A tenant sees its own effects only,
// whatever their age.
type Find struct {
	// URL is path and query of the GETs that ask, in which {key} stands for a key,
	// {id} for a value that was planted, {since} for a day as 2006-01-02 from which
	// on effects are listed, {/name} for what the JSON pointer /name finds in the
	// body of the request that made the effect, {query.name} for a parameter of its
	// query. Other parameters of the GET do not matter.
	URL string `json:"url,omitzero"`
	// Items points (RFC 6901) to the list that answers, which is empty when nothing
	// is found. Empty: the answer is one effect, or Absent.
	Items string `json:"items,omitzero"`
	// Where points into an item to the key, if the URL has {key} or there is no
	// Plant, else to what was planted.
	Where string `json:"where,omitzero"`
	// Reference points into the item or the answer to [Effect].ID.
	Reference string `json:"reference,omitzero"`
	// Stored: the answer is what is stored under the key, effect or not, as it was.
	Stored bool `json:"stored,omitzero"`
	// Absent answers when one effect is asked for and not found. Default: 404
	// not_found.
	Absent Answer `json:"absent,omitzero"`
	// Lag is how old an effect must be to be found. Default none.
	Lag time.Duration `json:"-"`
}
