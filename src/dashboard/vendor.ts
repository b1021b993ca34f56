/**
 * What the dashboard needs of other packages. The build replaces this file's output by a bundle of it, so that
 * applications install none of them. It also puts in the script and the style of the pages.
 */
declare const SCRIPT_TEXT: string;
declare const STYLE_TEXT: string;

export { getRequestListener } from '@hono/node-server';
export { toString as inWords } from 'cronstrue';
export { Hono, type Context } from 'hono';
export { compress } from 'hono/compress';
export { deleteCookie, getCookie, setCookie } from 'hono/cookie';
export { etag } from 'hono/etag';
export { html, raw } from 'hono/html';
export { secureHeaders } from 'hono/secure-headers';

export const SCRIPT = SCRIPT_TEXT;
export const STYLE = STYLE_TEXT;
