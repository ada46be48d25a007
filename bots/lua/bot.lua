-- The simplest complete bot in Lua: it asks for the legal answers and picks one by chance.
-- json.lua reads and writes the lines; it works with Lua 5.1 to 5.4 and with LuaJIT.
local json = require("json")

local chance = 0

local function send(message)
  io.stdout:write(json.encode(message), "\n")
  io.stdout:flush()
end

local function choose(legal)
  chance = (chance * 1664525 + 1013904223) % 4294967296 -- below 2 ^ 53, so exact
  return legal[1 + math.floor(chance / 65536) % #legal]
end

for line in io.lines() do
  local message = line:find("%S") and json.decode(line) or {}
  if message.type == "hello" then
    send({ type = "ready", name = "lua", legal = "canonical" })
  elseif message.type == "deal" then
    chance = message.seed % 4294967296
  elseif message.type == "move" and message.legal and #message.legal > 0 then
    local answer = { id = message.id }
    for field, value in pairs(choose(message.legal)) do
      answer[field] = value
    end
    send(answer)
  end
end
