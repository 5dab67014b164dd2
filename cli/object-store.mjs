#!/usr/bin/env node
import '../build/cli/main.js'
