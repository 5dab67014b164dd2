#!/usr/bin/env node
import module from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Where Node keeps what it has compiled: what systemd gives, or a folder beside the code, which only those can write who could
 * write the code. Node 20 has no such cache, and where the folder cannot be written Node goes on without one.
 */
const cache = process.env.CACHE_DIRECTORY ?? fileURLToPath(new URL('../build/compile-cache', import.meta.url))
module.enableCompileCache?.(cache)
await import('../build/program/main.js')
