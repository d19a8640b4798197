# SPDX-License-Identifier: Apache-2.0
"""How a fit goes: weights, validation, progress, warnings, interrupts, threads."""
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import espalier
from espalier import MonotonicClassifier, MonotonicRegressor
from espalier._progress import KEYS, progress_of

DRAW = np.random.default_rng(1)
X = DRAW.uniform(size=(400, 3)).astype(np.float32)
Y = 3 * X[:, 0] - X[:, 1]
CLASSES = np.where(Y + DRAW.normal(size=400) > 1, "yes", "no")
# A fit that nobody would wait for.
ENDLESS = {"epochs": 1_000_000, "n_jobs": 1}


def test_history_has_an_element_an_epoch():
    fitted = MonotonicRegressor(epochs=4, ensemble=2).fit(X, Y)
    assert fitted.n_iter_ == 4
    assert fitted.history_["member"].tolist() == [1] * 4 + [2] * 4
    assert fitted.history_["epoch"].tolist() == [1, 2, 3, 4] * 2
    assert np.isfinite(fitted.history_["valid_metric"]).all()
    unjudged = MonotonicRegressor(epochs=1, valid_fraction=0).fit(X, Y)
    assert np.isnan(unjudged.history_["valid_metric"]).all()


def test_patience_ends_training_early():
    fitted = MonotonicRegressor(epochs=1000, patience=2, learning_rate=0.1, ensemble=1).fit(X, Y)
    assert 2 < fitted.n_iter_ < 1000
    best = fitted.history_["valid_metric"].argmin()
    assert fitted.n_iter_ == best + 1 + 2


def test_validation_rows_choose_the_epoch():
    regressor = MonotonicRegressor(epochs=3, ensemble=1, trees=0)
    one = clone(regressor).fit(X[:300], Y[:300], eval_set=(X[300:], Y[300:]))
    other = clone(regressor).fit(X[:300], Y[:300], eval_set=[(X[300:], Y[300:])])
    assert one.model_.hash == other.model_.hash
    assert one.model_.info["training"]["valid_rows"] == 100
    assert one.history_["valid_metric"][-1] == pytest.approx(
        np.mean((one.predict(X[300:]) - Y[300:]) ** 2), rel=1e-3)


@pytest.mark.parametrize("base, step", [(0, 1e-3), (1e8, 1), (1e9, 1e-3), (-1e15, 8), (1e30, 1e29)])
def test_a_regressor_always_regresses(base, step):
    values = base + step * np.round(8 * Y.astype(np.float64))
    for y in (values, np.where(Y > 1, values.min(), values.max()), np.full(400, values[0])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", espalier.Warning)  # floats are too far apart to predict
            fitted = MonotonicRegressor(epochs=1, ensemble=1).fit(X, y)
        assert fitted.model_.task == "regression"
        if y.std() > 0:
            spread = np.abs(y).max() * 1e-6 + 10 * y.std()
            assert np.abs(fitted.predict(X).astype(np.float64) - y.mean()).max() < spread


def test_labels_that_no_float_holds_are_refused():
    exact = Y.astype(np.float64)
    for y in (exact * 1e300, np.where(Y > 1, 1e300, -1e300), exact * 1e-60):
        with pytest.raises(espalier.Error, match="32-bit float"):
            MonotonicRegressor(epochs=1).fit(X, y)


def test_a_constant_in_the_labels_is_learned_like_none():
    y = np.round(64 * Y.astype(np.float64))
    y[-1] -= y.sum() % 400  # so that the mean is exact
    plain = MonotonicRegressor(epochs=2, ensemble=1, valid_fraction=0).fit(X, y)
    with pytest.warns(espalier.Warning, match="subtract a constant from the label"):
        moved = MonotonicRegressor(epochs=2, ensemble=1, valid_fraction=0).fit(X, y + 2.0**33)
    assert moved.model_.info["networks"] == plain.model_.info["networks"]
    assert moved.model_.info["offset"] == plain.model_.info["offset"] + 2.0**33


def test_weights_move_the_model_towards_the_heavy_rows():
    y = np.where(np.arange(400) % 2, 1.0, 0.0)
    heavy = MonotonicRegressor(epochs=5).fit(X, y, sample_weight=1 + 9 * y).predict(X).mean()
    even = MonotonicRegressor(epochs=5).fit(X, y, sample_weight=1).predict(X).mean()
    assert abs(even - 0.5) < 0.1 and heavy > 0.8


def test_class_weights_move_the_probabilities():
    rare = np.where(Y > np.quantile(Y, 0.9), "yes", "no")
    mean = {}
    for key, class_weight in {"none": None, "balanced": "balanced",
                              "given": {"yes": 9}}.items():
        fitted = MonotonicClassifier(class_weight=class_weight, epochs=5, trees=0).fit(X, rare)
        mean[key] = fitted.predict_proba(X)[:, 1].mean()
    assert mean["none"] < 0.2 < mean["balanced"]
    assert mean["given"] == pytest.approx(mean["balanced"], abs=0.1)


def test_a_dictionary_of_weights_weighs_the_validation_rows_and_balanced_does_not():
    rare = np.where(Y > np.quantile(Y, 0.9), "yes", "no")
    seen, judged, is_yes = slice(300), slice(300, 400), rare[300:] == "yes"
    for class_weight, weight in (("balanced", 1), ({"yes": 9}, 9)):
        fitted = MonotonicClassifier(class_weight=class_weight, epochs=1, ensemble=1, trees=0).fit(
            X[seen], rare[seen], eval_set=(X[judged], rare[judged]))
        negative, positive = fitted.predict_proba(X[judged]).T
        log_loss = -np.average(np.log(np.where(is_yes, positive, negative)),
                               weights=np.where(is_yes, weight, 1))
        assert fitted.history_["valid_metric"][0] == pytest.approx(log_loss, rel=1e-4)


def test_a_failed_fit_leaves_the_old_model_and_its_classes():
    fitted = MonotonicClassifier(epochs=1).fit(X, CLASSES)
    wanted = fitted.predict(X)
    others = np.where(CLASSES == "yes", "good", "bad")

    def callback(epoch):
        raise KeyError("enough")

    for refit in (lambda: fitted.fit(X, others, callback=callback),
                  lambda: fitted.fit(X, others[:5]), lambda: fitted.fit(X, np.zeros(400)),
                  lambda: fitted.set_params(epochs=-1).fit(X, others)):
        with pytest.raises((ValueError, KeyError)):
            refit()
        assert fitted.classes_.tolist() == ["no", "yes"]
        np.testing.assert_array_equal(fitted.predict(X), wanted)
    assert fitted.set_params(epochs=1).fit(X, others).classes_.tolist() == ["bad", "good"]


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [False, True], ["no", "yes"], [2.0, 7.0],
                                    [2**40, 2**40 + 1], [99999999, 100000000]])
def test_classes_keep_their_type_and_order(labels):
    y = np.array(labels)[(Y > 1).astype(int)]
    fitted = MonotonicClassifier(epochs=20).fit(X, y)
    assert fitted.classes_.tolist() == labels and fitted.classes_.dtype == y.dtype
    assert fitted.score(X, y) > 0.8
    assert (fitted.predict(X) == fitted.classes_[fitted.predict_proba(X).argmax(axis=1)]).all()


def test_a_regression_of_two_values_is_no_classification():
    fitted = MonotonicRegressor(epochs=1).fit(X, (Y > 1).astype(float))
    assert fitted.model_.task == "regression"


def test_the_same_seed_gives_the_same_model_for_any_number_of_threads():
    wanted = MonotonicRegressor(epochs=2, n_jobs=1).fit(X, Y).model_.hash
    for params in ({}, {"n_jobs": 3}, {"n_jobs": -1}, {"random_state": np.int64(1)}):
        assert MonotonicRegressor(epochs=2, **params).fit(X, Y).model_.hash == wanted
    assert MonotonicRegressor(epochs=2, random_state=2).fit(X, Y).model_.hash != wanted
    drawn = [MonotonicRegressor(epochs=2, random_state=np.random.RandomState(5)).fit(X, Y)
             for _ in range(2)]
    assert drawn[0].model_.hash == drawn[1].model_.hash


def test_a_callback_sees_every_epoch_and_can_end_training():
    seen = []

    def callback(epoch):
        seen.append(epoch)
        return epoch["epoch"] == 3

    fitted = MonotonicRegressor(epochs=50).fit(X, Y, callback=callback)
    assert [epoch["epoch"] for epoch in seen] == [1, 2, 3] and fitted.n_iter_ == 3
    assert seen[0]["metric"] == "mse" and seen[0]["epochs"] == 50
    assert seen[1]["train_loss"] == fitted.history_["train_loss"][1]


def test_a_callback_is_not_called_within_epochs():
    seen = []
    with progress_of(seen.append, False) as report:
        running = dict.fromkeys(KEYS, 0) | {"loss": 1, "rows_done": 1, "rows_total": 2}
        assert not report(running | {"epoch_finished": False}) and not seen
        report(running | {"epoch_finished": True})
    assert seen == [dict.fromkeys(KEYS, 0)]


def test_what_a_callback_raises_leaves_fit():
    def callback(epoch):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        MonotonicRegressor(**ENDLESS).fit(X, Y, callback=callback)


def test_a_bar_is_shown_when_asked(capfd):
    MonotonicRegressor(epochs=2).fit(X, Y, progress=True)
    assert "fit:" in capfd.readouterr().err
    MonotonicRegressor(epochs=2).fit(X, Y)
    assert capfd.readouterr() == ("", "")


def test_an_interrupt_of_another_thread_stops_a_fit(interrupt_soon):
    with pytest.raises(KeyboardInterrupt):
        MonotonicRegressor(**ENDLESS).fit(X, Y)


def test_an_interrupt_of_another_thread_stops_a_hunt(interrupt_soon):
    model = MonotonicRegressor(monotonic_cst=[1, 0, 0], epochs=1, trees=0).fit(X, Y).model_
    with pytest.raises(KeyboardInterrupt):
        model.verify(pairs=10**12)


def test_threads_share_a_model():
    fitted = MonotonicClassifier(epochs=1).fit(X, CLASSES)
    wanted, found = fitted.predict_proba(X), []
    threads = [threading.Thread(target=lambda: found.extend(
        fitted.predict_proba(X) for _ in range(50))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 200 and all((each == wanted).all() for each in found)


def test_a_warning_of_the_library_points_at_the_call_of_fit():
    table = pd.DataFrame(X, columns=list("abc")).assign(same=1)
    with pytest.warns(espalier.Warning, match="column 'same' is ignored") as caught:
        MonotonicRegressor(epochs=1).fit(table, Y)
    assert caught[0].filename == __file__


def test_one_row_and_many_have_the_same_bits():
    fitted = MonotonicRegressor(epochs=1).fit(X, Y)
    many = fitted.predict(X)
    assert [fitted.predict(X[i:i + 1])[0] for i in range(20)] == many[:20].tolist()
    large = np.tile(X, (50, 1))
    np.testing.assert_array_equal(fitted.predict(large), np.tile(many, 50))
