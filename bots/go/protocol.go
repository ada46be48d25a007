package main

import "encoding/json"

// Message is any line from the runner; Type says which fields are there. Fields that are not
// named here may come as well; `tourney schema protocol` lists all.
type Message struct {
	Type string `json:"type"`

	// hello: once, when the process starts; wants a Ready.
	Game   string         `json:"game"`
	Rules  map[string]any `json:"rules"`
	Limits Limits         `json:"limits"`

	// deal: new cards; wants no answer. Seed is for the bot's own randomness.
	Seat    int      `json:"seat"`
	Players int      `json:"players"`
	Hand    []string `json:"hand"`
	Leader  *int     `json:"leader"`
	Seed    uint64   `json:"seed"`

	// move: the bot's turn; wants an Answer with the same id. View depends on the game.
	ID    int64           `json:"id"`
	View  json.RawMessage `json:"view"`
	Time  Clock           `json:"time"`
	Legal []Choice        `json:"legal"`

	// result: the deal is over; wants no answer. Both by seat.
	Places []int     `json:"places"`
	Points []float64 `json:"points"`

	// move and result: what has happened since this bot's last turn.
	Events []json.RawMessage `json:"events"`
}

// Limits is what the bot may use; times in milliseconds, sizes in bytes.
type Limits struct {
	Start  int `json:"start"`
	Move   int `json:"move"`
	Bank   int `json:"bank"`
	Output int `json:"output"`
	Memory int `json:"memory"`
}

// Clock is the time for one move, and what is left of the deal's extra time; milliseconds.
type Clock struct {
	Move int `json:"move"`
	Bank int `json:"bank"`
}

// Ready is the reply to hello. Legal is none, canonical or all.
type Ready struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Legal string `json:"legal"`
}

// Choice is exactly one of Play, Pass and (in Speahx) Chance. Cards are a rank of 23456789TJQKA
// and a suit of SCDH, such as "3S"; a joker is "JK". Suit is called with a two in Speahx.
type Choice struct {
	Play   []string `json:"play,omitempty"`
	Suit   string   `json:"suit,omitempty"`
	Pass   bool     `json:"pass,omitempty"`
	Chance bool     `json:"chance,omitempty"`
}

// Answer is a choice with the id of its request; Debug is a note that is kept with the deal.
type Answer struct {
	ID int64 `json:"id"`
	Choice
	Debug string `json:"debug,omitempty"`
}
