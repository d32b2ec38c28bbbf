/**
 * Manufacturer datasheets of widely used panels, at 1000 W/m2 and 25 Celsius. No row comes from a
 * public list; a test compares the ratings with such a list where it has the model.
 */
import { significant } from '@heliograph/domain/significant'
import type { Technology } from './model.ts'

/** Values that the models of a datasheet share. */
type Sheet = readonly [
  name: string,
  /** In series; for half-cut cells those of one half. */
  cells: number,
  size_mm: readonly [length: number, width: number],
  /** Percent per degree: of current, voltage and power. */
  per_c: readonly [alpha_pct: number, beta_pct: number, gamma_pct: number],
  noct_c: number,
  technology?: Technology,
  bifacial?: 'bifacial',
]

/** A model with its rated power, within 0.2 percent of Imp Vmp. */
type Rated = readonly [
  model: string,
  power_stc_w: number,
  i_sc_a: number,
  v_oc_v: number,
  i_mp_a: number,
  v_mp_v: number,
]

const sheets: Readonly<Record<string, readonly (readonly [Sheet, ...Rated[]])[]>> = {
  'JA Solar': [
    [
      ['JAM54S30 390-415/MR', 54, [1722, 1134], [0.045, -0.275, -0.35], 45],
      ['JAM54S30-405/MR', 405, 13.87, 37.23, 12.98, 31.21],
      ['JAM54S30-410/MR', 410, 13.95, 37.32, 13.04, 31.45],
    ],
    [
      ['JAM72S20 445-470/MR', 72, [2112, 1052], [0.044, -0.272, -0.35], 45],
      ['JAM72S20-455/MR', 455, 11.41, 49.85, 10.88, 41.82],
      ['JAM72S20-460/MR', 460, 11.45, 50.01, 10.92, 42.13],
    ],
    [
      ['JAM72S30 525-550/MR', 72, [2279, 1134], [0.045, -0.275, -0.35], 45],
      ['JAM72S30-540/MR', 540, 13.86, 49.6, 12.97, 41.64],
      ['JAM72S30-545/MR', 545, 13.93, 49.75, 13.04, 41.8],
      ['JAM72S30-550/MR', 550, 14.0, 49.9, 13.11, 41.96],
    ],
  ],
  'LONGi Solar': [
    [
      ['LR4-60HPH 350-380M', 60, [1755, 1038], [0.048, -0.27, -0.35], 45],
      ['LR4-60HPH-375M', 375, 11.6, 41.1, 10.84, 34.6],
    ],
    [
      ['LR4-72HPH 425-455M', 72, [2094, 1038], [0.048, -0.27, -0.35], 45],
      ['LR4-72HPH-450M', 450, 11.6, 49.3, 10.85, 41.5],
    ],
    [
      ['LR5-72HPH 540-560M', 72, [2278, 1134], [0.05, -0.265, -0.34], 45],
      ['LR5-72HPH-540M', 540, 13.85, 49.5, 12.97, 41.65],
      ['LR5-72HPH-545M', 545, 13.92, 49.65, 13.04, 41.8],
      ['LR5-72HPH-550M', 550, 13.98, 49.8, 13.12, 41.95],
      ['LR5-72HPH-555M', 555, 14.04, 49.95, 13.19, 42.1],
    ],
    [
      ['LR5-72HTH 565-585M', 72, [2278, 1134], [0.05, -0.23, -0.29], 45],
      ['LR5-72HTH-570M', 570, 14.07, 51.91, 13.03, 43.76],
      ['LR5-72HTH-575M', 575, 14.14, 52.06, 13.1, 43.91],
      ['LR5-72HTH-580M', 580, 14.2, 52.21, 13.17, 44.06],
    ],
  ],
  'Jinko Solar': [
    [
      ['JKM310-330PP-72', 72, [1956, 992], [0.06, -0.3, -0.4], 45, 'multi_c_si'],
      ['JKM330PP-72', 330, 9.14, 46.9, 8.74, 37.8],
    ],
    [
      ['JKM390-410M-72H-V', 72, [2008, 1002], [0.048, -0.28, -0.36], 45],
      ['JKM400M-72H-V', 400, 10.36, 49.8, 9.6, 41.7],
    ],
    [
      ['JKM530-550M-72HL4-V', 72, [2274, 1134], [0.048, -0.28, -0.35], 45],
      ['JKM540M-72HL4-V', 540, 13.85, 49.42, 13.27, 40.7],
      ['JKM545M-72HL4-V', 545, 13.94, 49.52, 13.36, 40.8],
      ['JKM550M-72HL4-V', 550, 14.03, 49.62, 13.45, 40.9],
    ],
    [
      ['JKM555-575N-72HL4-BDV', 72, [2278, 1134], [0.046, -0.25, -0.3], 45, 'topcon', 'bifacial'],
      ['JKM570N-72HL4-BDV', 570, 14.25, 51.07, 13.48, 42.29],
      ['JKM575N-72HL4-BDV', 575, 14.31, 51.27, 13.55, 42.44],
    ],
  ],
  'Trina Solar': [
    [
      ['TSM-PD14 305-320', 72, [1956, 992], [0.05, -0.32, -0.41], 44, 'multi_c_si'],
      ['TSM-320PD14', 320, 9.1, 45.8, 8.63, 37.1],
    ],
    [
      ['TSM-DE09.08 390-405', 60, [1754, 1096], [0.04, -0.25, -0.34], 43],
      ['TSM-400DE09.08', 400, 12.28, 41.2, 11.7, 34.2],
    ],
    [
      ['TSM-DE19 535-555', 55, [2384, 1096], [0.04, -0.25, -0.34], 43],
      ['TSM-550DE19', 550, 18.52, 37.9, 17.4, 31.6],
    ],
    [
      ['TSM-DE21 650-670', 66, [2384, 1303], [0.04, -0.25, -0.34], 43],
      ['TSM-670DE21', 670, 18.62, 46.1, 17.55, 38.2],
    ],
  ],
  'Canadian Solar': [
    [
      ['CS6U 315-330P', 72, [1960, 992], [0.053, -0.31, -0.41], 43, 'multi_c_si'],
      ['CS6U-330P', 330, 9.45, 45.6, 8.88, 37.2],
    ],
    [
      ['CS3W 395-415P', 72, [2108, 1048], [0.05, -0.28, -0.36], 42, 'multi_c_si'],
      ['CS3W-400P', 400, 10.9, 47.2, 10.34, 38.7],
    ],
    [
      ['CS3W 430-455MS', 72, [2108, 1048], [0.05, -0.27, -0.35], 42],
      ['CS3W-450MS', 450, 11.6, 49.1, 10.96, 41.1],
    ],
    [
      ['CS6W 530-555MS', 72, [2261, 1134], [0.05, -0.26, -0.34], 41],
      ['CS6W-540MS', 540, 13.9, 49.2, 13.08, 41.3],
      ['CS6W-550MS', 550, 14.0, 49.6, 13.2, 41.7],
    ],
    [
      ['CS7L 580-605MS', 60, [2172, 1303], [0.05, -0.26, -0.34], 41],
      ['CS7L-600MS', 600, 18.47, 41.3, 17.2, 34.9],
    ],
    [
      ['CS7N 640-670MS', 66, [2384, 1303], [0.05, -0.26, -0.34], 41],
      ['CS7N-660MS', 660, 18.47, 45.4, 17.24, 38.3],
    ],
  ],
  Qcells: [
    [
      ['Q.PEAK DUO BLK ML-G10+ 385-405', 66, [1879, 1045], [0.04, -0.27, -0.34], 43],
      ['Q.PEAK DUO BLK ML-G10+ 400', 400, 11.14, 45.3, 10.77, 37.13],
    ],
  ],
  'REC Group': [
    [
      ['REC TwinPeak 4 360-375', 60, [1755, 1040], [0.04, -0.26, -0.34], 44.6],
      ['REC370TP4', 370, 11.38, 41.0, 10.68, 34.7],
    ],
    [
      ['REC Alpha Pure 385-410', 66, [1821, 1016], [0.04, -0.24, -0.26], 44, 'hjt'],
      ['REC400AA Pure', 400, 10.25, 48.8, 9.51, 42.1],
    ],
  ],
  'First Solar': [
    [
      ['Series 6 FS-6420-6450', 264, [2009, 1232], [0.04, -0.28, -0.32], 45, 'cdte'],
      ['FS-6450', 450, 2.57, 221.1, 2.41, 186.8],
    ],
  ],
  SunPower: [
    // The datasheet states the coefficients as 2.9 mA and -167.4 mV.
    [
      ['X-Series SPR-X22-360-COM', 96, [1558, 1046], [0.29 / 6.48, -16.74 / 69.5, -0.29], 41.5],
      ['SPR-X22-360-COM', 360, 6.48, 69.5, 5.94, 60.6],
    ],
  ],
  Panasonic: [
    // The datasheet states the coefficients as 3.34 mA and -0.164 V.
    [
      ['HIT VBHN330SJ47', 96, [1590, 1053], [0.334 / 6.07, -16.4 / 69.7, -0.258], 44, 'hjt'],
      ['VBHN330SJ47', 330, 6.07, 69.7, 5.7, 58.0],
    ],
  ],
}

export type DatasheetModel = (typeof datasheets)[number]
export const datasheets = Object.entries(sheets).flatMap(([manufacturer, own]) =>
  own.flatMap(([[sheet, cells, size_mm, per_c, noct_c, technology, bifacial], ...models]) =>
    models.map(([model, power_stc_w, i_sc_a, v_oc_v, i_mp_a, v_mp_v]) => ({
      name: `${manufacturer} ${model}`,
      manufacturer,
      model,
      technology: technology ?? ('mono_c_si' as const),
      bifacial: bifacial !== undefined,
      power_stc_w,
      cells_in_series: cells,
      length_m: size_mm[0] / 1000,
      width_m: size_mm[1] / 1000,
      i_sc_a,
      v_oc_v,
      i_mp_a,
      v_mp_v,
      alpha_sc_a_per_c: significant((per_c[0] / 100) * i_sc_a),
      beta_oc_v_per_c: significant((per_c[1] / 100) * v_oc_v),
      gamma_pmp_pct_per_c: per_c[2],
      noct_c,
      source_version: `datasheet ${manufacturer} ${sheet}`,
    })),
  ),
)
