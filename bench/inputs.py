# SPDX-License-Identifier: Apache-2.0
# The columns of a table as the networks of the peers read them.
import numpy

INPUT_KEYPOINTS = 100


class Inputs:
    """The columns of a table as the networks read them: positions of monotone numbers, positions
    of the others, one-hot words; or codes instead of one-hot words."""

    def __init__(self, data):
        x = data.parts["train"][0]
        numbers = [i for i in range(x.shape[1]) if i not in data.categories]
        self.data = data
        self.monotone = [i for i in numbers if data.signs[i]]
        self.free = [i for i in numbers if not data.signs[i]]
        self.typical = numpy.nanmedian(x, axis=0)
        self.keypoints = {i: self._keypoints(x[:, i]) for i in numbers}
        self.buckets = [len(data.words[data.features[i]]) + 1 for i in data.categories]
        self.width = len(numbers) + sum(self.buckets)

    @staticmethod
    def _keypoints(column):
        distinct = numpy.unique(column[~numpy.isnan(column)])
        places = numpy.linspace(0, len(distinct) - 1, min(len(distinct), INPUT_KEYPOINTS))
        return distinct[places.round().astype(int)]

    def positions(self, x):
        """[rows][numbers], in [0, 1]; rising where the prediction must rise."""
        columns = []
        for i in self.monotone + self.free:
            keypoints = self.keypoints[i]
            cells = numpy.where(numpy.isnan(x[:, i]), self.typical[i], x[:, i])
            u = numpy.interp(cells, keypoints, numpy.linspace(0, 1, len(keypoints)))
            columns.append(1 - u if self.data.signs[i] < 0 else u)
        return numpy.stack(columns, 1).astype(numpy.float32)

    def codes(self, x):
        """[rows][categories]; the last code of each stands for missing and unseen words."""
        columns = [numpy.where(numpy.isnan(x[:, i]), buckets - 1, x[:, i])
                   for i, buckets in zip(self.data.categories, self.buckets)]
        return numpy.array(columns, numpy.float32).reshape(-1, len(x)).T

    def one_hot(self, x):
        """[rows][width]"""
        codes = self.codes(x).astype(int)
        words = [numpy.eye(n, dtype=numpy.float32)[codes[:, c]] for c, n in enumerate(self.buckets)]
        return numpy.concatenate([self.positions(x), *words], 1)

    def with_codes(self, x):
        return numpy.concatenate([self.positions(x), self.codes(x)], 1)
