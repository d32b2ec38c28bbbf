import assert from 'node:assert/strict'
import test from 'node:test'
import { curtailedWords, sentence, shareOf } from './sentence.ts'

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

const noon = {
  ac_power_kw: 300,
  available_power_kw: 400,
  curtailed_power_kw: 100,
  is_daylight: true,
}

test('the sentence says what is delivered and curtailed now, and how the day compares', () => {
  assert.equal(
    plain(sentence(noon, 81.6)),
    'Producing 300.0 kW, 75 % of available power: curtailed. ' +
      'Today so far: 82 % of the expected energy.',
  )
  const night = { ...noon, ac_power_kw: -0.2, available_power_kw: 0, is_daylight: false }
  assert.equal(
    sentence(night, 96),
    'Night: no production. Today so far: 96 % of the expected energy.',
  )
})

test('what is not known is not in it', () => {
  assert.equal(sentence({ ...noon, ac_power_kw: null }, null), 'Present power unknown.')
  assert.equal(
    plain(sentence({ ...noon, curtailed_power_kw: null, available_power_kw: null }, null)),
    'Producing 300.0 kW.',
  )
})

test('a limit that binds nothing is not blamed', () => {
  assert.equal(plain(sentence({ ...noon, curtailed_power_kw: 0.1 }, null)), 'Producing 300.0 kW.')
  assert.equal(curtailedWords(0.1), 'no curtailment now')
  assert.equal(curtailedWords(null), 'present curtailment unknown')
  assert.equal(plain(curtailedWords(12)), '12.0 kW curtailed now')
})

test('a day with more energy than is expected of it is not summed up yet: no share is told', () => {
  assert.equal(shareOf(96, 100), 96)
  assert.equal(shareOf(104, 100), 104)
  assert.equal(shareOf(145, 100), null)
  assert.equal(shareOf(0.2, 0), null)
  assert.equal(shareOf(null, 100), null)
})
