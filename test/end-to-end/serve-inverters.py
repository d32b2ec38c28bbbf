"""SunSpec inverters by pymodbus that obey their limit, and write down every register write.

Argument 1 is a JSON description: {"log": file, "gateways": [{"port": number, "inverters":
[{"inverter_id", "unit_id", "rated_w", "limit_pct": found at start or null}]}]}. Each inverter has
models 1, 103, 120, 121 and 123, in registers written out by hand. "ready" on the standard output
tells that all listen. From then on each line there, and in the log, is a write as it was done:
{"at": Unix ms, "inverter_id", "address", "words", "allowed_w"}, the last being what the device may
deliver from then on under any sun; the log begins with a line for each inverter as it is found.
Ends when its standard input does.
"""

import asyncio
import json
import logging
import math
import os
import pathlib
import sys
import time

from pymodbus.datastore import ModbusSequentialDataBlock, ModbusSlaveContext

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "edge" / "drivers" / "fixtures"))

from sunspec_peer import NA16, NAS16, NASF, common, model, s16, serve, u32, words

BASE = 40000
# Watts are in hundreds, percent in hundredths.
W_STEP, W_SF = 100, 2
PCT_FULL, PCT_SF = 10000, -2
PRODUCING, THROTTLED = 4, 5


class Inverter(ModbusSequentialDataBlock):
    """The registers of one inverter; only those of its limit can be written."""

    def __init__(self, told, record):
        self.inverter_id = told["inverter_id"]
        self.rated_w = told["rated_w"]
        self.record = record
        measured = ([NA16] * 4 + [NASF] + [NA16] * 6 + [NASF] + [0, W_SF] + [5000, s16(-2)]
                    + [NAS16, NASF] * 3 + u32(0) + [0] + [NA16, NASF] * 2 + [NAS16, NASF]
                    + [NAS16] * 4 + [NASF] + [PRODUCING, NA16] + u32(0) * 6)
        rated = self.rated_w // W_STEP
        nameplate = ([4, rated, W_SF] + [NA16, NASF] + [NAS16] * 4 + [NASF] + [NA16, NASF]
                     + [NAS16] * 4 + [NASF] + [NA16, NASF] * 4 + [NAS16])
        settings = ([rated, NA16, NAS16] + [NA16] * 3 + [NAS16] * 4 + [NA16] + [NAS16] * 4
                    + [NA16] * 5 + [W_SF] + [NASF] * 9)
        limit_pct = told["limit_pct"]
        found = PCT_FULL if limit_pct is None else round(limit_pct * 100)
        controls = ([NA16, NA16, 1, found, 0, 0, NA16, int(limit_pct is not None)]
                    + [NA16] * 13 + [s16(PCT_SF), NASF, NASF])
        identity = common("P-123", "PEER-%d" % self.inverter_id, "4.2")
        registers, places = words(b"SunS") + identity, {}
        for model_id, body in [(103, measured), (120, nameplate), (121, settings),
                               (123, controls)]:
            places[model_id] = len(registers) + 2
            registers += model(model_id, body)
        super().__init__(BASE, registers + [0xFFFF, 0])
        self.power_at, self.state_at = places[103] + 12, places[103] + 36
        self.max_at = places[121]
        limit_at = places[123] + 3
        self.percent_at, self.window_at, self.timer_at = limit_at, limit_at + 1, limit_at + 2
        self.enable_at = limit_at + 4
        self.record(self, None, [])

    def allowed_w(self):
        most_w = self.values[self.max_at] * W_STEP
        # The timer of model 123 leads to no limit at all.
        if self.values[self.enable_at] != 1 or self.values[self.timer_at] != 0:
            return most_w
        return most_w * self.values[self.percent_at] / PCT_FULL

    def getValues(self, address, count=1):
        # Below the limit by a little that changes, so that no measured power shows the limit.
        phase = time.time() / 3 + self.inverter_id
        sun_w = self.rated_w * (0.55 + 0.45 * math.sin(phase))
        power_w = min(sun_w, self.allowed_w() * (0.99 + 0.005 * math.sin(7 * phase)))
        self.values[self.power_at] = int(power_w) // W_STEP
        self.values[self.state_at] = PRODUCING if power_w == sun_w else THROTTLED
        return super().getValues(address, count)

    def takes(self, address, count):
        one = {self.max_at, self.percent_at, self.window_at, self.timer_at, self.enable_at}
        return all(address - BASE + nth in one for nth in range(count))

    def setValues(self, address, values):
        super().setValues(address, list(values))
        self.record(self, address, list(values))


class Unit(ModbusSlaveContext):
    """Refuses writes of what cannot be written."""

    def validate(self, function_code, address, count=1):
        if function_code in (6, 16) and not self.store["h"].takes(address, count):
            return False
        return super().validate(function_code, address, count)


async def main():
    # Masters that are killed are no errors.
    logging.disable(logging.CRITICAL)
    told = json.loads(sys.argv[1])
    log = os.open(told["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    is_ready = False

    def record(inverter, address, values):
        line = json.dumps({"at": time.time() * 1000, "inverter_id": inverter.inverter_id,
                           "address": address, "words": values,
                           "allowed_w": inverter.allowed_w()}).encode() + b"\n"
        os.write(log, line)
        if is_ready:
            os.write(1, line)

    serving = []
    for gateway in told["gateways"]:
        units = {one["unit_id"]: Unit(hr=Inverter(one, record), zero_mode=True)
                 for one in gateway["inverters"]}
        task, _ = await serve(units, gateway["port"])
        serving.append(task)
    os.write(1, b"ready\n")
    is_ready = True
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    for task in serving:
        task.cancel()


asyncio.run(main())
