"""Fusion: hand-computed values and what must not change a ranking."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from monjyu_query.ranking.fusion import Mask, Scores, rrf_fusion, z_scores, zscore_fusion
from tests.properties import given, st


def scores(*values: float) -> Scores:
    return np.array(values, dtype=np.float32)


def everyone(count: int) -> Mask:
    return np.ones(count, dtype=np.bool_)


def test_z_scores_by_hand() -> None:
    # mean 2, population deviation sqrt(2/3)
    assert_allclose(z_scores(scores(1, 2, 3), everyone(3)), [-1.2247449, 0, 1.2247449], rtol=1e-6)


def test_z_scores_of_equal_scores_are_zero() -> None:
    assert_allclose(z_scores(scores(0.3, 0.3, 0.3), everyone(3)), [0, 0, 0])


def test_chunks_outside_the_mask_do_not_count() -> None:
    mask = np.array([True, True, True, False])
    found = z_scores(scores(1, 2, 3, 1000), mask)
    assert_allclose(found[:3], [-1.2247449, 0, 1.2247449], rtol=1e-6)
    assert found[3] == -np.inf


def test_nothing_passes() -> None:
    nobody = np.zeros(2, dtype=np.bool_)
    assert (zscore_fusion(scores(1, 2), scores(0, 3), nobody, 0.5) == -np.inf).all()
    assert (rrf_fusion(scores(1, 2), scores(0, 3), nobody, 0.5, 20) == -np.inf).all()


def test_zscore_fusion_by_hand() -> None:
    # dense z: -1, 1 (mean 0.5, deviation 0.5); sparse z: 1, -1
    assert_allclose(zscore_fusion(scores(0, 1), scores(4, 0), everyone(2), 0.75), [-0.5, 0.5])


def test_no_keyword_match_leaves_the_vector_order() -> None:
    dense = scores(0.1, 0.9, 0.5)
    fused = zscore_fusion(dense, scores(0, 0, 0), everyone(3), 0.3)
    assert list(np.argsort(-fused)) == [1, 2, 0]


def test_rrf_by_hand() -> None:
    fused = rrf_fusion(scores(0.9, 0.5, 0.1), scores(0, 2, 3), everyone(3), 0.5, 20)
    assert_allclose(fused, [0.5 / 21, 0.5 / 22 + 0.5 / 22, 0.5 / 23 + 0.5 / 21], rtol=1e-6)


def test_rrf_gives_nothing_for_no_match() -> None:
    """A chunk without any word of the question gets no keyword rank, however few chunks have one."""
    fused = rrf_fusion(scores(0.2, 0.1), scores(0, 0), everyone(2), 0.5, 20)
    assert_allclose(fused, [0.5 / 21, 0.5 / 22], rtol=1e-6)


lists = st.integers(2, 40).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-100, 100), min_size=n, max_size=n), st.lists(st.integers(0, 50), min_size=n, max_size=n)
    )
)


@given(lists, st.floats(0, 1), st.sampled_from([0.5, 2.0, 8.0]), st.integers(-64, 64))
def test_zscore_fusion_ignores_scale_and_shift(
    pair: tuple[list[int], list[int]], alpha: float, scale: float, shift: int
) -> None:
    dense, sparse = scores(*pair[0]), scores(*pair[1])
    mask = everyone(len(dense))
    moved = zscore_fusion(dense * scale + shift, sparse * scale, mask, alpha)
    assert_allclose(moved, zscore_fusion(dense, sparse, mask, alpha), atol=1e-4)


@given(lists, st.floats(0, 1), st.randoms(use_true_random=False))
def test_fusion_does_not_depend_on_row_order(pair: tuple[list[int], list[int]], alpha: float, random: object) -> None:
    dense, sparse = scores(*pair[0]), scores(*pair[1])
    order = np.arange(len(dense))
    random.shuffle(order)  # type: ignore[attr-defined]
    fused = zscore_fusion(dense, sparse, everyone(len(dense)), alpha)
    assert_allclose(zscore_fusion(dense[order], sparse[order], everyone(len(dense)), alpha), fused[order], atol=1e-5)


@pytest.mark.parametrize("fusion", ["zscore", "rrf"])
@given(lists)
def test_the_ends_of_alpha_are_the_single_rankings(fusion: str, pair: tuple[list[int], list[int]]) -> None:
    dense, sparse = scores(*pair[0]), scores(*pair[1])
    mask = everyone(len(dense))

    def fuse(alpha: float) -> Scores:
        if fusion == "zscore":
            return zscore_fusion(dense, sparse, mask, alpha)
        return rrf_fusion(dense, sparse, mask, alpha, 20)

    order = np.argsort(-fuse(1.0), kind="stable")
    assert (np.diff(dense[order]) <= 0).all()
    matched = np.argsort(-fuse(0.0), kind="stable")
    assert (np.diff(sparse[matched]) <= 0).all()
