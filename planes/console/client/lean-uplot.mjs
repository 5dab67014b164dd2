// What uPlot has for other charts, taken out of the bundle. Bundlers cannot leave it out by themselves: helpers hang on its
// function, and whether an axis has dates is asked while it runs. The console calls none of the helpers and writes its times itself.
const PARTS = [
  // Helpers, but for the ratio of pixels.
  [
    /^uPlot\.assign = assign;\n[^]*?^uPlot\.pxRatio = pxRatio;\n[^]*(?=^export \{ uPlot as default \};)/m,
    'uPlot.pxRatio = pxRatio;\n',
  ],
  // Axes of dates: their steps and texts, and the questions whether a scale is one.
  [/^const \[ timeIncrsMs.*\nconst \[ timeIncrsS.*\n/m, ''],
  [/^\tconst _timeAxisSplits = .*\n\tconst _timeAxisVals .*\n\tconst _timeSeriesVal .*\n/m, ''],
  // Logarithmic axes, whose range and labels the console says itself; and scales by the area sine, which it has none of.
  [/sc\.distr == 3 \? logAxisSplits : sc\.distr == 4 \? asinhAxisSplits : numAxisSplits/, 'numAxisSplits'],
  [/sc\.distr == 3 \? snapLog[XY] : sc\.distr == 4 \? snapAsinh[XY] : /g, ''],
  [/if \(xScaleDistr == 3\)\n.*rangeLog.*\n\s*else if \(xScaleDistr == 4\)\n.*rangeAsinh.*\n\s*else /, ''],
  // The legend, which is ours.
  [/^\tconst showLegend = .*$/m, '\tconst showLegend = false;'],
  [/\b(?:const|let) isTime = [^;]+;/g, 'const isTime = false;'],
]

export function leanUplot() {
  return {
    name: 'lean-uplot',
    transform(code, id) {
      if (!id.endsWith('/uPlot.esm.js')) return undefined
      const lean = PARTS.reduce((rest, [part, instead]) => {
        const next = rest.replace(part, instead)
        if (next === rest) throw new Error(`uPlot has another form, without ${part}: look at lean-uplot.mjs`)
        return next
      }, code)
      return { code: lean, map: null }
    },
  }
}
