// For each word of a sentence, whether another sentence lacks it, by their longest common subsequence.

export function additions(words, others) {
  // common[i][j]: the most words that words[i:] and others[j:] have in common
  const common = Array.from({ length: words.length + 1 }, () => new Uint16Array(others.length + 1));
  for (let i = words.length - 1; i >= 0; i--) {
    for (let j = others.length - 1; j >= 0; j--) {
      common[i][j] = words[i] === others[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const added = [];
  for (let i = 0, j = 0; i < words.length;) {
    if (j < others.length && words[i] === others[j]) {
      added.push(false);
      i++;
      j++;
    } else if (j < others.length && common[i][j + 1] > common[i + 1][j]) {
      j++;
    } else {
      added.push(true);
      i++;
    }
  }
  return added;
}
