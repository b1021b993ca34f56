/** The dashboard below the path /ops, in each server that *Dashboard* shows. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import express, { type RequestHandler } from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { toNodeHandler, type Dashboard } from 'cronlatch/dashboard';

interface Opened {
  readonly port: number;
  close(): unknown;
}

async function listening(listener: RequestListener): Promise<Opened> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, close: () => (server.close(), server.closeAllConnections()) };
}

async function withExpress(dashboard: Dashboard, ...parsers: readonly RequestHandler[]): Promise<Opened> {
  const app = express();
  for (const parser of parsers) app.use(parser);
  app.use('/ops', toNodeHandler(dashboard));
  return await listening(app);
}

@Module({})
class AppModule {}

async function withNest(dashboard: Dashboard): Promise<Opened> {
  const options = { forceCloseConnections: true, logger: false } as const;
  const app = await NestFactory.create<NestExpressApplication>(AppModule, options);
  app.use('/ops', toNodeHandler(dashboard));
  await app.listen(0, '127.0.0.1');
  return { port: Number(new URL(await app.getUrl()).port), close: () => app.close() };
}

async function withFastify(dashboard: Dashboard): Promise<Opened> {
  const app = fastify({ forceCloseConnections: true });
  const handler = toNodeHandler(dashboard);
  await app.register((scope, _options, done) => {
    scope.addContentTypeParser('application/x-www-form-urlencoded', (_request, _payload, parsed) => {
      parsed(null);
    });
    scope.all('/ops', (request, reply) => {
      reply.hijack();
      handler(request.raw, reply.raw);
    });
    done();
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
}

async function withHono(dashboard: Dashboard): Promise<Opened> {
  const app = new Hono().all('/ops', (context) => dashboard(context.req.raw));
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

export const DASHBOARD_SERVERS: Readonly<Record<string, (dashboard: Dashboard) => Promise<Opened>>> = {
  'node:http': (dashboard) => listening(toNodeHandler(dashboard)),
  Express: withExpress,
  'Express, after it has read the form': (dashboard) =>
    withExpress(dashboard, express.json(), express.urlencoded({ extended: true })),
  NestJS: withNest,
  Fastify: withFastify,
  Hono: withHono,
};
