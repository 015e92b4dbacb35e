# SPDX-License-Identifier: Apache-2.0
"""A network between a manager and its database that can be cut: a TCP proxy on loopback."""
import asyncio
import threading

_CHUNK = 65536


class Network:
    """Lines on loopback, served in a thread of their own."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def line(self, port, target):
        """A new Line from `port` to the port `target`."""
        line = Line(self._loop, port, target)
        self._call(line.open())
        return line

    def close(self):
        """Break all lines."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _call(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)


class Line:
    """Connections from one port to another, which are cut and joined together."""

    def __init__(self, loop, port, target):
        self._loop = loop
        self._port, self._target = port, target
        self._whole = asyncio.Event()
        self._whole.set()
        self._writers = set()
        self._server = None

    async def open(self):
        self._server = await asyncio.start_server(self._connected, '127.0.0.1', self._port)

    def cut(self):
        """Stop all traffic without closing connections, as when a cable is pulled."""
        self._loop.call_soon_threadsafe(self._whole.clear)

    def join(self, broken):
        """All gets through again.

        :param broken: the connections from before are reset, as by a firewall that forgot them.
        """
        self._loop.call_soon_threadsafe(self._join, broken)

    def _join(self, broken):
        if broken:
            for writer in self._writers:
                writer.transport.abort()
        self._whole.set()

    async def _connected(self, reader, writer):
        await self._whole.wait()
        try:
            there, back = await asyncio.open_connection('127.0.0.1', self._target)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, back}
        self._writers |= ends
        try:
            await asyncio.gather(self._forward(reader, back), self._forward(there, writer))
        finally:
            self._writers -= ends

    async def _forward(self, reader, writer):
        try:
            while chunk := await reader.read(_CHUNK):
                await self._whole.wait()
                writer.write(chunk)
                await writer.drain()
        except OSError:
            pass  # reset by one end; the other learns it too
        finally:
            # Without a farewell: what was under way when an end died does not arrive either.
            await self._whole.wait()
            writer.close()
