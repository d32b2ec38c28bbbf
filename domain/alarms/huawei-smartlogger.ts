import type { Severity } from '../link.ts'
import { type AlarmRow, alarmTable, graded } from './table.ts'

/** The maker's public documents have no more than a name of each alarm. */
const alarm =
  (severity: Severity) =>
  (bit: number, code: string, category: AlarmRow['category'], name: string) =>
    graded(severity)(bit, code, category, [name, `Alarm ${code} of the SmartLogger.`])

const major = alarm('major')
const minor = alarm('minor')
const warning = alarm('warning')

/**
 * Alarms of a SmartLogger itself: registers 50000 and, in the upper half, 50001 are `alarm_1`, the
 * next two `alarm_2` and `alarm_3`. Codes, positions and severities are the maker's; alarms whose
 * severity a plant sets are warnings. A second register with an alarm has `-` and its number.
 */
export const huaweiSmartLogger = alarmTable(
  {
    table_id: 'huawei-smartlogger',
    manufacturer: 'Huawei',
    model_family: 'SmartLogger',
    table_version: '1',
    word_bits: 32,
    not_available: 'all_bits',
    severity_by: 'manufacturer',
    source: 'Huawei, SmartLogger Modbus Interface Definitions, Issue 35, as quoted in public',
    alarm_source: 'controller',
  },
  [
    [
      major(3, '1100', 'communication', 'Active power schedule abnormal'),
      major(11, '1101', 'communication', 'Reactive power schedule abnormal'),
      major(17, '1103', 'ac_grid', 'Miniature circuit breaker open'),
      major(18, '1104', 'other', 'Cubicle abnormal'),
      major(19, '1105', 'communication', 'Device address conflict'),
      major(20, '1106', 'ac_grid', 'AC surge protection fault'),
      warning(21, '1107', 'other', 'Digital input 1: alarm of the plant'),
      warning(22, '1108', 'other', 'Digital input 2: alarm of the plant'),
      warning(23, '1109', 'other', 'Digital input 3: alarm of the plant'),
      warning(24, '1110', 'other', 'Digital input 4: alarm of the plant'),
      warning(25, '1111', 'other', 'Digital input 5: alarm of the plant'),
      warning(26, '1112', 'other', 'Digital input 6: alarm of the plant'),
      warning(27, '1113', 'other', 'Digital input 7: alarm of the plant'),
      warning(28, '1114', 'other', 'Digital input 8: alarm of the plant'),
      major(29, '1115', 'other', '24 V power failure'),
      warning(30, '1119', 'communication', 'Licence expired'),
    ],
    [
      warning(1, '1117', 'communication', 'WebUI certificate about to expire'),
      major(2, '1118', 'communication', 'WebUI certificate expired'),
      warning(3, '1120', 'communication', 'Management system certificate invalid'),
      warning(4, '1121', 'communication', 'Management system certificate about to expire'),
      major(5, '1122', 'communication', 'Management system certificate expired'),
      warning(6, '1123', 'communication', 'Remote control certificate invalid'),
      warning(7, '1124', 'communication', 'Remote control certificate about to expire'),
      major(8, '1125', 'communication', 'Remote control certificate expired'),
      warning(9, '1126', 'communication', 'ESGCC certificate invalid'),
      warning(10, '1127', 'communication', 'ESGCC certificate about to expire'),
      major(11, '1128', 'communication', 'ESGCC certificate expired'),
      warning(12, '1129', 'communication', 'SmartLogger certificate invalid'),
      warning(13, '1130', 'communication', 'SmartLogger certificate about to expire'),
      major(14, '1131', 'communication', 'SmartLogger certificate expired'),
      major(15, '1132', 'battery', 'Rack controller cables not connected to the DC bus'),
      warning(
        17,
        '1121-2',
        'communication',
        'Second management system certificate about to expire',
      ),
      major(18, '1122-2', 'communication', 'Second management system certificate expired'),
      major(19, '1134', 'battery', 'PCS cables not connected to the DC bus'),
    ],
    [
      major(1, '1135', 'communication', 'SDS licence capacity insufficient'),
      minor(17, '1140-2', 'other', 'Black start of the array failed, cause 2'),
      minor(18, '1140-3', 'other', 'Black start of the array failed, cause 3'),
      minor(19, '1140-4', 'other', 'Black start of the array failed, cause 4'),
      minor(20, '1140-5', 'other', 'Black start of the array failed, cause 5'),
      minor(21, '1140-6', 'other', 'Black start of the array failed, cause 6'),
      minor(22, '1140-7', 'other', 'Black start of the array failed, cause 7'),
      minor(23, '1140-8', 'other', 'Black start of the array failed, cause 8'),
      major(24, '1141', 'battery', 'Storage shut down by the STS switch'),
    ],
  ],
)
