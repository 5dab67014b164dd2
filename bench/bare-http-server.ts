/**
 * A program: answers every request with 4 KiB and nothing else, with the HTTP library of the server, for comparison
 * with real answers. Prints its port; ends when standard input ends.
 */
import * as uWS from 'uWebSockets.js'

const BODY = Buffer.alloc(4096, 'x')

uWS
  .App()
  .any('/*', (response) => {
    response.end(BODY)
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket === false) throw new Error('no port of the loopback interface can be listened on')
    process.stdout.write(`${uWS.us_socket_local_port(socket as uWS.us_socket)}\n`)
  })

process.stdin.resume().once('end', () => process.exit(0))
