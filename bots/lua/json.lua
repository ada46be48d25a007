-- A small reader and writer of JSON.
--
-- json.decode(text) returns the value that a text holds. Objects and arrays become tables, and
-- null becomes nil, so a field that is null looks like one that is missing.
-- json.encode(value) returns a value as JSON on one line. A table with an item 1 is written as an
-- array, any other table as an object.
local json = {}

local ESCAPES = {
  ['"'] = '"', ["\\"] = "\\", ["/"] = "/",
  b = "\b", f = "\f", n = "\n", r = "\r", t = "\t",
}
local WORDS = { ["true"] = true, ["false"] = false }

local function fail(position, problem)
  error(("%s at position %d of the JSON"):format(problem, position), 0)
end

local function utf8_of(code)
  if code < 0x80 then
    return string.char(code)
  elseif code < 0x800 then
    return string.char(0xC0 + math.floor(code / 0x40), 0x80 + code % 0x40)
  elseif code < 0x10000 then
    local high = math.floor(code / 0x1000)
    return string.char(0xE0 + high, 0x80 + math.floor(code / 0x40) % 0x40, 0x80 + code % 0x40)
  end
  local low = string.char(0x80 + math.floor(code / 0x40) % 0x40, 0x80 + code % 0x40)
  return string.char(0xF0 + math.floor(code / 0x40000), 0x80 + math.floor(code / 0x1000) % 0x40)
    .. low
end

-- Each read function gets the text and the position of a value, and returns the value and the
-- position after it.
local read_value

local function read_unicode(text, position)
  local code = tonumber(text:match("^%x%x%x%x", position) or fail(position, "a wrong escape"), 16)
  local low = text:match("^\\u([dD][c-fC-F]%x%x)", position + 4)
  if code >= 0xD800 and code < 0xDC00 and low then -- two halves of one character
    return utf8_of(0x10000 + (code - 0xD800) * 0x400 + tonumber(low, 16) - 0xDC00), position + 10
  end
  return utf8_of(code), position + 4
end

local function read_string(text, position)
  local parts = {}
  position = position + 1
  while true do
    local stop = text:find('["\\]', position) or fail(position, "a string without its end")
    parts[#parts + 1] = text:sub(position, stop - 1)
    if text:sub(stop, stop) == '"' then
      return table.concat(parts), stop + 1
    end
    local letter = text:sub(stop + 1, stop + 1)
    if letter == "u" then
      parts[#parts + 1], position = read_unicode(text, stop + 2)
    else
      parts[#parts + 1] = ESCAPES[letter] or fail(stop, "a wrong escape")
      position = stop + 2
    end
  end
end

local function after_blanks(text, position)
  return text:find("[^ \t\r\n]", position) or #text + 1
end

-- Steps over the comma or the end after an item; returns whether it was the end.
local function read_comma(text, position, closing)
  position = after_blanks(text, position)
  local sign = text:sub(position, position)
  if sign ~= "," and sign ~= closing then
    fail(position, "no comma or " .. closing)
  end
  return sign == closing, position + 1
end

local function read_array(text, position)
  local array, count, ended, value = {}, 0, false, nil
  position = after_blanks(text, position + 1)
  if text:sub(position, position) == "]" then
    return array, position + 1
  end
  while not ended do
    value, position = read_value(text, position)
    count = count + 1
    array[count] = value
    ended, position = read_comma(text, position, "]")
  end
  return array, position
end

local function read_object(text, position)
  local object, ended, name = {}, false, nil
  position = after_blanks(text, position + 1)
  if text:sub(position, position) == "}" then
    return object, position + 1
  end
  while not ended do
    position = after_blanks(text, position)
    if text:sub(position, position) ~= '"' then
      fail(position, "no name of a field")
    end
    name, position = read_string(text, position)
    position = after_blanks(text, position)
    if text:sub(position, position) ~= ":" then
      fail(position, "no colon")
    end
    object[name], position = read_value(text, position + 1)
    ended, position = read_comma(text, position, "}")
  end
  return object, position
end

local function read_word(text, position)
  local number = text:match("^-?%d[%d.eE+-]*", position)
  if number then
    return tonumber(number) or fail(position, "a wrong number"), position + #number
  end
  local word = text:match("^%a+", position) or ""
  if WORDS[word] == nil and word ~= "null" then
    fail(position, "no value")
  end
  return WORDS[word], position + #word
end

function read_value(text, position)
  position = after_blanks(text, position)
  local sign = text:sub(position, position)
  if sign == '"' then
    return read_string(text, position)
  elseif sign == "{" then
    return read_object(text, position)
  elseif sign == "[" then
    return read_array(text, position)
  end
  return read_word(text, position)
end

function json.decode(text)
  local value, position = read_value(text, 1)
  position = after_blanks(text, position)
  if position <= #text then
    fail(position, "something after the value")
  end
  return value
end

local function escaped(sign)
  return ("\\u%04x"):format(sign:byte())
end

function json.encode(value)
  local kind = type(value)
  local parts = {}
  if kind == "string" then
    return '"' .. value:gsub('[%c"\\]', escaped) .. '"'
  elseif kind == "number" then
    return (value % 1 == 0 and "%.0f" or "%.17g"):format(value)
  elseif kind ~= "table" then
    return value == nil and "null" or tostring(value)
  elseif value[1] ~= nil then
    for number, item in ipairs(value) do
      parts[number] = json.encode(item)
    end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for name, item in pairs(value) do
    parts[#parts + 1] = json.encode(name) .. ":" .. json.encode(item)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

return json
