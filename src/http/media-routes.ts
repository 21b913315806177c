/** Images and speech. */

import type { FastifyInstance } from 'fastify'
import { runImageCall } from '../pipeline/images/run.ts'
import { runSpeechCall } from '../pipeline/speech.ts'
import { addCallRoute } from './call-route.ts'
import { IMAGE_ROUTES, SPEECH_ROUTE } from './endpoints.ts'
import type { ServerOptions } from './request.ts'

export function addMediaRoutes(server: FastifyInstance, options: ServerOptions): void {
  for (const route of IMAGE_ROUTES) addCallRoute(server, options, route, runImageCall)
  addCallRoute(server, options, SPEECH_ROUTE, runSpeechCall)
}
