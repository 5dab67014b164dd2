-- What wrk runs: requests that are made once, in init(), and handed out one after the other.
--
-- Arguments behind `--`: the file of requests (one `METHOD target` a line), the file of the body that every PUT sends,
-- the value of the Host header, `cycle` or `once`, `time` or `count`, mean pause before each request in milliseconds.
--
-- `once` stops when every request was handed out. `count` notes the times of the first and the last request handed out:
-- a connection asks for its next request when the last one was answered, so requests are counted over the time they
-- took. wrk itself divides by the whole duration, and loses what is half done at the end of it.

local PRECOMPUTED_BYTES_MAXIMUM = 256 * 1024 * 1024

local requests = {}
local joined = true
local body = ''
local once = false
local now

-- Globals, since wrk reads a thread's globals from outside of it.
calls = 0
first_call = 0
last_call = 0
exhausted = 0

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

local function clock()
  local ffi = require('ffi')
  ffi.cdef [[
    typedef struct { long seconds; long nanoseconds; } bench_time;
    int clock_gettime(int clock, bench_time *time);
  ]]
  local time = ffi.new('bench_time')
  local monotonic = 1
  return function()
    ffi.C.clock_gettime(monotonic, time)
    return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
  end
end

local function read_all(path)
  local file = assert(io.open(path, 'rb'))
  local bytes = file:read('*a')
  file:close()
  return bytes
end

function init(arguments)
  body = read_all(arguments[2])
  once = arguments[4] == 'once'
  if arguments[5] == 'count' then now = clock() end
  local pause = tonumber(arguments[6])
  -- wrk asks for a pause only when there is such a global by the end of init(). Latencies do not contain it, and wrk
  -- adds those of the requests that would have been sent while one took long.
  if pause > 0 then
    delay = function() return math.random(0, 2 * pause) end
  end
  local host = 'Host: ' .. arguments[3] .. '\r\n'
  local length = 'Content-Length: ' .. #body .. '\r\n'
  local sends = {}
  local bytes = 0
  for line in io.lines(arguments[1]) do
    local method, target = line:match('^(%S+) (%S+)$')
    local index = #requests + 1
    sends[index] = method == 'PUT'
    requests[index] = method .. ' ' .. target .. ' HTTP/1.1\r\n' .. host .. (sends[index] and length or '') .. '\r\n'
    if sends[index] then bytes = bytes + #body end
  end
  joined = bytes <= PRECOMPUTED_BYTES_MAXIMUM
  for index, head in ipairs(requests) do
    if not sends[index] then
      if not joined then requests[index] = { head, '' } end
    elseif joined then
      requests[index] = head .. body
    else
      requests[index] = { head, body }
    end
  end
end

function request()
  -- wrk calls this once before it connects, to look at the request: that one is never sent.
  if now then
    last_call = now()
    if calls == 1 then first_call = last_call end
  end
  local index = calls % #requests + 1
  calls = calls + 1
  if once and calls > #requests then
    exhausted = 1
    calls = #requests
    index = #requests
    wrk.thread:stop()
  end
  local one = requests[index]
  if joined then return one end
  return one[1] .. one[2]
end

function done(summary, latency)
  local thread = threads[1]
  local errors = summary.errors
  io.write(string.format(
    'BENCH {"requests":%d,"microseconds":%d,"bytes":%d,"calls":%d,"firstCallSeconds":%.9f,"lastCallSeconds":%.9f,' ..
      '"exhausted":%d,"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d},' ..
      '"latencyMicroseconds":{"p50":%d,"p90":%d,"p99":%d,"maximum":%d}}\n',
    summary.requests, summary.duration, summary.bytes, thread:get('calls'), thread:get('first_call'),
    thread:get('last_call'), thread:get('exhausted'), errors.connect, errors.read, errors.write, errors.status,
    errors.timeout, latency:percentile(50), latency:percentile(90), latency:percentile(99), latency.max))
end
