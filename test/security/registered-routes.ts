/** Collects every route that this process's Fastify servers register, as Fastify itself reports them. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import type { RouteAuthentication } from '../../src/lib/route.ts'

export interface RegisteredRoute {
  readonly method: string
  readonly path: string
  readonly authentication: RouteAuthentication | undefined
  /** True for routes that serve only requests that accept HTML. */
  readonly isPage: boolean
}

/** Collects the routes of servers created from now until `stop` is called. */
export function collectRoutes(): { readonly routes: readonly RegisteredRoute[]; stop(): void } {
  const routes: RegisteredRoute[] = []
  const watch = (message: unknown): void => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, url, config, constraints }) => {
      for (const each of Array.isArray(method) ? method : [method]) {
        const isPage = constraints !== undefined && 'audience' in constraints
        routes.push({ method: each, path: url, authentication: config?.authentication, isPage })
      }
    })
  }
  subscribe('fastify.initialization', watch)
  return { routes, stop: () => unsubscribe('fastify.initialization', watch) }
}
