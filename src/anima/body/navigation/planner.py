"""The global planner: cheapest way over the costmap (Dijkstra on 8-connected cells), pulled straight and smoothed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from anima.body.navigation.costmap import Costmap
from anima.body.navigation.navigator import NO_PATH, PathPoints
from anima.body.navigation.tuning import NavigationTuning
from anima.body.pose import Pose2D

_TIGHT_COST = 40.0
_SPACING_M = 0.05
_SMOOTHING_ROUNDS = 80
# Weights of the smoothing: pull to the neighbours' middle, pull back to the planned point.
_STRAIGHTEN, _STAY = 0.4, 0.04


@dataclass(frozen=True)
class _Field:
    """Everything reachable from one start: cost and predecessor of each cell."""

    cost: NDArray[np.float64]
    before: NDArray[np.int32]


class Planner:
    """Plans over one costmap. A plan costs about ten milliseconds on a 160 x 120 grid."""

    def __init__(self, costmap: Costmap, tuning: NavigationTuning) -> None:
        self._costmap = costmap
        self._tuning = tuning
        self._edges = _edges(costmap.grid.blocked.shape)

    def plan(self, start: Pose2D, goal: Pose2D) -> PathPoints:
        """Points from start to goal every 5 cm, shape (n, 2); (0, 2) where there is no way."""
        costs = self._costs(start, [goal])
        path = self._path(self._field(start, costs), start, goal)
        return self._smooth(path, costs) if len(path) > 2 else path

    def lengths(self, start: Pose2D, goals: Sequence[Pose2D]) -> list[float]:
        """Metres from start to each goal; `inf` where there is no way."""
        field = self._field(start, self._costs(start, goals))
        return [path_length(path) if len(path) else float("inf") for path in (
            self._path(field, start, goal) for goal in goals
        )]

    def _costs(self, start: Pose2D, goals: Sequence[Pose2D]) -> NDArray[np.float64]:
        """The costmap's costs, with the tight cells around start and goals opened."""
        costs = self._costmap.costs()
        grid = self._costmap.grid
        rows, columns = np.nonzero(self._costmap.tight())
        if rows.size:
            where = grid.centres(np.stack([rows, columns], axis=1))
            near = np.zeros(rows.size, dtype=bool)
            for pose in (start, *goals):
                near |= np.hypot(where[:, 0] - pose.x, where[:, 1] - pose.y) < self._tuning.tight_zone_m
            costs[rows[near], columns[near]] = _TIGHT_COST
        # The robot is where it is: its own cell is always open.
        row, column = grid.cell(start.x, start.y)
        costs[row, column] = min(costs[row, column], _TIGHT_COST)
        return costs

    def _field(self, start: Pose2D, costs: NDArray[np.float64]) -> _Field:
        one, other, metres = self._edges
        flat = costs.ravel()
        weight = (flat[one] + flat[other]) * (0.5 * self._costmap.grid.resolution_m) * metres
        open_ = np.isfinite(weight)
        graph = sparse.csr_matrix((weight[open_], (one[open_], other[open_])), shape=(flat.size, flat.size))
        row, column = self._costmap.grid.cell(start.x, start.y)
        cost, before = csgraph.dijkstra(
            graph, directed=False, indices=row * costs.shape[1] + column, return_predecessors=True
        )
        return _Field(cost, before)

    def _path(self, field: _Field, start: Pose2D, goal: Pose2D) -> PathPoints:
        grid = self._costmap.grid
        width = grid.blocked.shape[1]
        row, column = grid.cell(goal.x, goal.y)
        cell = row * width + column
        if not np.isfinite(field.cost[cell]):
            return NO_PATH
        chain = [cell]
        while (cell := int(field.before[cell])) >= 0:
            chain.append(cell)
        rows, columns = np.divmod(np.array(chain[::-1]), width)
        inner = grid.centres(np.stack([rows, columns], axis=1))[1:-1]
        return np.concatenate([[[start.x, start.y]], inner, [[goal.x, goal.y]]])

    def _smooth(self, path: PathPoints, costs: NDArray[np.float64]) -> PathPoints:
        points = resample(self._pull(path, costs), _SPACING_M)
        planned, smooth = points, points.copy()
        for _ in range(_SMOOTHING_ROUNDS):
            middle = 0.5 * (smooth[:-2] + smooth[2:])
            smooth[1:-1] += _STRAIGHTEN * (middle - smooth[1:-1]) + _STAY * (planned[1:-1] - smooth[1:-1])
        free = self._costmap.clearance_along(smooth)
        worse = (free < self._tuning.turning_clearance_m) & (free < self._costmap.clearance_along(planned))
        return planned if worse.any() else smooth

    def _pull(self, path: PathPoints, costs: NDArray[np.float64]) -> PathPoints:
        """Straight lines wherever they cost no more than the stair-steps that they replace."""
        grid = self._costmap.grid
        cells = grid.cells(path)
        step = np.hypot(*(path[1:] - path[:-1]).T)
        along = costs[cells[:, 0], cells[:, 1]]
        spent = np.concatenate([[0.0], np.cumsum(step * 0.5 * (along[1:] + along[:-1]))])
        kept, at, last = [0], 0, len(path) - 1
        while at < last:
            reach = min(last, at + 64)
            while reach > at + 1:
                line = resample(path[[at, reach]], 0.5 * grid.resolution_m)
                on = grid.cells(line)
                price = float(np.mean(costs[on[:, 0], on[:, 1]])) * float(np.hypot(*(path[reach] - path[at])))
                if price <= (spent[reach] - spent[at]) * 1.001:
                    break
                reach = at + max(1, (reach - at) * 2 // 3)
            kept.append(reach)
            at = reach
        return path[kept]


def path_length(path: PathPoints) -> float:
    """Metres along a path."""
    return float(np.hypot(*(path[1:] - path[:-1]).T).sum())


def resample(path: PathPoints, spacing_m: float) -> PathPoints:
    """The same line with points every `spacing_m` at most, ends kept."""
    step = np.hypot(*(path[1:] - path[:-1]).T)
    along = np.concatenate([[0.0], np.cumsum(step)])
    count = max(2, int(np.ceil(along[-1] / spacing_m)) + 1)
    at = np.linspace(0.0, along[-1], count)
    return np.stack([np.interp(at, along, path[:, 0]), np.interp(at, along, path[:, 1])], axis=1)


def _edges(shape: tuple[int, ...]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Each pair of neighbouring cells once: flat index of one, of the other, distance in cells."""
    height, width = shape
    index = np.arange(height * width).reshape(height, width)
    pairs = [
        (index[:, :-1], index[:, 1:], 1.0),
        (index[:-1, :], index[1:, :], 1.0),
        (index[:-1, :-1], index[1:, 1:], 2**0.5),
        (index[:-1, 1:], index[1:, :-1], 2**0.5),
    ]
    return (
        np.concatenate([one.ravel() for one, _, _ in pairs]),
        np.concatenate([other.ravel() for _, other, _ in pairs]),
        np.concatenate([np.full(one.size, metres) for one, _, metres in pairs]),
    )
