# The simplest complete bot in Ruby: it asks for the legal answers and picks one by chance.
require "json" # comes with Ruby itself

$stdin.set_encoding("UTF-8")
$stdout.set_encoding("UTF-8")
$stdout.sync = true # flush after each line
$chance = 0

def send_line(message)
  puts JSON.generate(message)
end

def choose(legal)
  $chance = ($chance * 1_664_525 + 1_013_904_223) % 2**32
  legal[($chance >> 16) % legal.size]
end

$stdin.each_line do |line|
  next if line.strip.empty?

  message = JSON.parse(line)
  case message["type"]
  when "hello"
    send_line({ "type" => "ready", "name" => "ruby", "legal" => "canonical" })
  when "deal"
    $chance = message["seed"] % 2**32
  when "move"
    legal = message["legal"] || []
    send_line({ "id" => message["id"], **choose(legal) }) unless legal.empty?
  end
end
