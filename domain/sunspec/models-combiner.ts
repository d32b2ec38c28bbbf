/**
 * SunSpec models of a string combiner: 401 (deprecated) and 403 with currents, 404 with all values
 * of an input.
 */
import { type Model, scalesFrom } from './point.ts'

export const combinerModels = {
  401: {
    id: 401,
    points: [
      ...scalesFrom(2, 'DCA_SF', 'DCAhr_SF', 'DCV_SF'),
      ['DCAMax', 5, 'uint16', 'A', 'DCA_SF'],
      ['N', 6, 'count'],
      ['Evt', 7, 'bitfield32'],
      ['EvtVnd', 9, 'bitfield32'],
      ['DCA', 11, 'int16', 'A', 'DCA_SF'],
      ['DCAhr', 12, 'uint32', 'Ah', 'DCAhr_SF'],
      ['DCV', 14, 'uint16', 'V', 'DCV_SF'],
      ['Tmp', 15, 'int16', 'C'],
    ],
    group: {
      name: 'string',
      length: 8,
      count: 'N',
      points: [
        ['InID', 0, 'uint16'],
        ['InEvt', 1, 'bitfield32'],
        ['InEvtVnd', 3, 'bitfield32'],
        ['InDCA', 5, 'int16', 'A', 'DCA_SF'],
        ['InDCAhr', 6, 'uint32', 'Ah', 'DCAhr_SF'],
      ],
    },
  },
  403: {
    id: 403,
    points: [
      ...scalesFrom(2, 'DCA_SF', 'DCAhr_SF', 'DCV_SF'),
      ['DCAMax', 5, 'uint16', 'A', 'DCA_SF'],
      ['N', 6, 'count'],
      ['Evt', 7, 'bitfield32'],
      ['EvtVnd', 9, 'bitfield32'],
      ['DCA', 11, 'int16', 'A', 'DCA_SF'],
      ['DCAhr', 12, 'acc32', 'Ah', 'DCAhr_SF'],
      ['DCV', 14, 'int16', 'V', 'DCV_SF'],
      ['Tmp', 15, 'int16', 'C'],
      ['InDCA_SF', 16, 'sunssf'],
      ['InDCAhr_SF', 17, 'sunssf'],
    ],
    group: {
      name: 'string',
      length: 8,
      count: 'N',
      points: [
        ['InID', 0, 'uint16'],
        ['InEvt', 1, 'bitfield32'],
        ['InEvtVnd', 3, 'bitfield32'],
        ['InDCA', 5, 'int16', 'A', 'InDCA_SF'],
        ['InDCAhr', 6, 'acc32', 'Ah', 'InDCAhr_SF'],
      ],
    },
  },
  404: {
    id: 404,
    points: [
      ...scalesFrom(2, 'DCA_SF', 'DCAhr_SF', 'DCV_SF', 'DCW_SF', 'DCWh_SF'),
      ['DCAMax', 7, 'uint16', 'A', 'DCA_SF'],
      ['N', 8, 'count'],
      ['Evt', 9, 'bitfield32'],
      ['EvtVnd', 11, 'bitfield32'],
      ['DCA', 13, 'int16', 'A', 'DCA_SF'],
      ['DCAhr', 14, 'acc32', 'Ah', 'DCAhr_SF'],
      ['DCV', 16, 'int16', 'V', 'DCV_SF'],
      ['Tmp', 17, 'int16', 'C'],
      ['DCW', 18, 'int16', 'W', 'DCW_SF'],
      ['DCPR', 19, 'int16', 'Pct'],
      ['DCWh', 20, 'acc32', 'Wh', 'DCWh_SF'],
      ...scalesFrom(22, 'InDCA_SF', 'InDCAhr_SF', 'InDCV_SF', 'InDCW_SF', 'InDCWh_SF'),
    ],
    group: {
      name: 'string',
      length: 14,
      count: 'N',
      points: [
        ['InID', 0, 'uint16'],
        ['InEvt', 1, 'bitfield32'],
        ['InEvtVnd', 3, 'bitfield32'],
        ['InDCA', 5, 'int16', 'A', 'InDCA_SF'],
        ['InDCAhr', 6, 'acc32', 'Ah', 'InDCAhr_SF'],
        ['InDCV', 8, 'int16', 'V', 'InDCV_SF'],
        ['InDCW', 9, 'int16', 'W', 'InDCW_SF'],
        ['InDCWh', 10, 'acc32', 'Wh', 'InDCWh_SF'],
        ['InDCPR', 12, 'uint16', 'Pct'],
        ['InN', 13, 'uint16'],
      ],
    },
  },
} as const satisfies Record<number, Model>
