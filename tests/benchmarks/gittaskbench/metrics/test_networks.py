"""Measures by networks, run on small networks made here whose answers are known in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from repoassay.benchmarks.gittaskbench.metrics.networks import (
    frechet,
    image_clip_cosine,
    image_lpips,
    video_logit_frechet,
    weights,
)
from repoassay.errors import InfraFault
from repoassay.grading.protocol import NotGradable, UnreadableOutput

pytest.importorskip("onnxruntime")

Place = Callable[..., Path]
LPIPS, CLIP, PROMPTS, INCEPTION = (
    "lpips-vgg.onnx", "clip-vit-b32-image.onnx", "clip-prompts.npz", "inception-v3-logits.onnx",
)  # fmt: skip
FREE = (1, 3, None, None)
MEANS = helper.make_node("ReduceMean", ["a"], ["out"], axes=[2, 3], keepdims=0)
DISTANCE = (
    helper.make_node("Sub", ["a", "b"], ["difference"]),
    helper.make_node("Abs", ["difference"], ["size"]),
    helper.make_node("ReduceMean", ["size"], ["out"], keepdims=0),
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Write a network into the folder of weights; without arguments, only its path."""
    folder = tmp_path / "weights"
    folder.mkdir()
    monkeypatch.setenv("REPOASSAY_WEIGHTS", str(folder))

    def write(
        name: str,
        nodes: Sequence[Any] = (),
        inputs: str = "a",
        shape: Sequence[int | None] = FREE,
        kind: int = TensorProto.FLOAT,
        constants: dict[str, Any] | None = None,
    ) -> Path:
        if nodes:
            held = [numpy_helper.from_array(value, key) for key, value in (constants or {}).items()]
            given = [helper.make_tensor_value_info(each, TensorProto.FLOAT, shape) for each in inputs]
            graph = helper.make_graph(list(nodes), "g", given, [helper.make_tensor_value_info("out", kind, None)], held)
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
            onnx.save(model, folder / name)
        return folder / name

    return write


def save(path: Path, picture: Any) -> Path:
    Image.fromarray(np.asarray(picture, np.uint8)).save(path)
    return path


def flat(path: Path, colour: tuple[int, int, int], size: tuple[int, int] = (24, 40)) -> Path:
    return save(path, np.zeros((*size, 3)) + np.array(colour))


def film(path: Path, frames: Sequence[Any]) -> Path:
    height, width = frames[0].shape[:2]
    # Lossless, so that what is decoded is known to the last level.
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"FFV1"), 10, (width, height))
    for frame in frames:
        writer.write(np.ascontiguousarray(frame[..., ::-1], dtype=np.uint8))
    writer.release()
    return path


class TestFrechet:
    def test_one_dimension_is_the_closed_form(self) -> None:
        chance = np.random.default_rng(0)
        ours, theirs = chance.normal(3, 2, (50, 1)), chance.normal(-1, 5, (70, 1))
        wanted = (ours.mean() - theirs.mean()) ** 2 + (ours.std(ddof=1) - theirs.std(ddof=1)) ** 2
        assert frechet(ours, theirs) == pytest.approx(wanted)

    def test_commuting_covariances_are_the_closed_form(self) -> None:
        # Rows whose covariance is diagonal to the letter: every sign of every axis once.
        signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T.astype(float)
        scales, shift = (np.array([1.0, 2, 3]), np.array([4.0, 2, 0.5])), np.array([1.0, -2, 2])
        stretch = math.sqrt(8 / 7)
        wanted = 9 + float(((scales[0] - scales[1]) ** 2).sum()) * stretch**2
        assert frechet(signs * scales[0] + shift, signs * scales[1]) == pytest.approx(wanted)

    def test_turned_gaussians_agree_with_eigenvalues(self) -> None:
        chance = np.random.default_rng(1)
        ours, theirs = (chance.normal(0, 1, (200, 6)) @ chance.normal(0, 1, (6, 6)) for _ in range(2))
        one, two = (np.cov(each, rowvar=False) for each in (ours, theirs))
        # The trace of the root of a product of positive matrices is the sum of the roots of its eigenvalues.
        roots = float(np.sqrt(np.linalg.eigvals(one @ two).real).sum())
        apart = float(((ours.mean(0) - theirs.mean(0)) ** 2).sum())
        assert frechet(ours, theirs) == pytest.approx(apart + np.trace(one) + np.trace(two) - 2 * roots)

    def test_the_same_rows_are_at_no_distance(self) -> None:
        rows = np.random.default_rng(2).normal(0, 1, (40, 5))
        assert frechet(rows, rows[::-1]) == pytest.approx(0, abs=1e-6)


class TestAbsence:
    @pytest.mark.parametrize("name", [LPIPS, CLIP, INCEPTION])
    def test_a_network_that_is_not_here_is_not_gradable_and_says_where_it_belongs(
        self, place: Place, tmp_path: Path, name: str
    ) -> None:
        picture = flat(tmp_path / "a.png", (1, 2, 3))
        measures: dict[str, Callable[[], object]] = {
            LPIPS: lambda: image_lpips(picture, picture),
            CLIP: lambda: image_clip_cosine(picture, prompts=["hayao"]),
            INCEPTION: lambda: video_logit_frechet(picture, picture),
        }
        with pytest.raises(NotGradable, match=rf"(?s){name}.*weights of the data folder.*style-and-resolution"):
            measures[name]()

    def test_absent_embeddings_are_named(self, place: Place, tmp_path: Path) -> None:
        place(CLIP, [MEANS])
        with pytest.raises(NotGradable, match=PROMPTS):
            image_clip_cosine(flat(tmp_path / "a.png", (1, 2, 3)), prompts=["hayao"])

    def test_a_folder_under_the_name_is_no_file(self, place: Place) -> None:
        place(LPIPS).mkdir()
        with pytest.raises(NotGradable):
            weights(LPIPS)

    def test_the_default_folder_is_the_sandboxs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("REPOASSAY_WEIGHTS", raising=False)
        with pytest.raises(NotGradable):
            weights("no-such-network.onnx")


class TestLpips:
    """The network of these tests gives the mean absolute difference of what it is fed."""

    def test_the_inputs_are_in_minus_one_to_one(self, place: Place, tmp_path: Path) -> None:
        place(LPIPS, DISTANCE, "ab")
        black, white = flat(tmp_path / "a.png", (0, 0, 0)), flat(tmp_path / "b.png", (255, 255, 255))
        assert image_lpips(black, white).value == pytest.approx(2)
        assert image_lpips(white, white).value == 0

    def test_the_channels_are_red_green_and_blue(self, place: Place, tmp_path: Path) -> None:
        first = helper.make_node("Slice", ["a", "from", "to", "axis"], ["red"])
        mean = helper.make_node("ReduceMean", ["red"], ["only"], keepdims=0)
        rest = helper.make_node("ReduceMean", ["b"], ["other"], keepdims=0)
        none = helper.make_node("Mul", ["other", "nought"], ["nothing"])
        total = helper.make_node("Add", ["only", "nothing"], ["out"])
        places = {key: np.array([value]) for key, value in (("from", 0), ("to", 1), ("axis", 1))}
        constants = {**places, "nought": np.float32(0)}
        place(LPIPS, [first, mean, rest, none, total], "ab", constants=constants)
        red = flat(tmp_path / "red.png", (255, 0, 0))
        assert image_lpips(red, flat(tmp_path / "b.png", (0, 0, 0))).value == pytest.approx(1)

    def test_the_order_is_output_and_reference(self, place: Place, tmp_path: Path) -> None:
        nodes = [
            helper.make_node("Sub", ["a", "b"], ["difference"]),
            helper.make_node("ReduceMean", ["difference"], ["out"], keepdims=0),
        ]
        place(LPIPS, nodes, "ab")
        black, white = flat(tmp_path / "a.png", (0, 0, 0)), flat(tmp_path / "b.png", (255, 255, 255))
        assert image_lpips(white, black).value == pytest.approx(2)

    def test_both_are_brought_to_the_smaller_sides(self, place: Place, tmp_path: Path) -> None:
        place(LPIPS, DISTANCE, "ab")
        wide, high = flat(tmp_path / "a.png", (9, 9, 9), (20, 60)), flat(tmp_path / "b.png", (9, 9, 9), (50, 30))
        found = image_lpips(wide, high)
        assert found.value == pytest.approx(0, abs=1e-6)
        assert found.comment == "at 30 x 20"

    @pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n" + b"\0" * 50, b"words"])
    def test_a_hostile_output_is_its_own_fault_and_a_hostile_reference_is_not(
        self, place: Place, tmp_path: Path, content: bytes
    ) -> None:
        place(LPIPS, DISTANCE, "ab")
        good, bad = flat(tmp_path / "a.png", (9, 9, 9)), tmp_path / "b.png"
        bad.write_bytes(content)
        with pytest.raises(UnreadableOutput):
            image_lpips(bad, good)
        with pytest.raises(InfraFault, match=r"b\.png"):
            image_lpips(good, bad)


class TestBrokenNetworks:
    @pytest.fixture
    def pair(self, tmp_path: Path) -> tuple[Path, Path]:
        return flat(tmp_path / "a.png", (0, 0, 0)), flat(tmp_path / "b.png", (255, 255, 255))

    @pytest.mark.parametrize("content", [b"", b"no network", b"\x08\x08" + b"\xff" * 200])
    def test_a_file_that_is_no_network(self, place: Place, pair: tuple[Path, Path], content: bytes) -> None:
        place(LPIPS).write_bytes(content)
        with pytest.raises(InfraFault, match=rf"{LPIPS} cannot be loaded"):
            image_lpips(*pair)

    def test_a_network_cut_off(self, place: Place, pair: tuple[Path, Path]) -> None:
        path = place(LPIPS, DISTANCE, "ab", constants={"unused": np.zeros(1000, np.float32)})
        path.write_bytes(path.read_bytes()[:-2000])
        with pytest.raises(InfraFault, match=LPIPS):
            image_lpips(*pair)

    @pytest.mark.parametrize(("inputs", "count"), [("a", 1), ("abc", 3)])
    def test_another_number_of_inputs(self, place: Place, pair: tuple[Path, Path], inputs: str, count: int) -> None:
        place(LPIPS, [helper.make_node("Sum", list(inputs), ["out"])], inputs)
        with pytest.raises(InfraFault, match=f"take {count} inputs, not the 2"):
            image_lpips(*pair)

    @pytest.mark.parametrize("shape", [(1, 3, 64, 64), (3, None, None), (1, None, None, 3)])
    def test_inputs_of_another_shape_are_told_in_the_runtimes_words(
        self, place: Place, pair: tuple[Path, Path], shape: tuple[int | None, ...]
    ) -> None:
        place(LPIPS, DISTANCE, "ab", shape)
        with pytest.raises(NotGradable, match=f"{LPIPS} could not be run on these images"):
            image_lpips(*pair)

    def test_an_answer_that_is_not_one_number(self, place: Place, pair: tuple[Path, Path]) -> None:
        place(LPIPS, [helper.make_node("Sub", ["a", "b"], ["out"])], "ab")
        with pytest.raises(InfraFault, match="answer with 2880 numbers, not the 1 "):
            image_lpips(*pair)

    def test_an_answer_that_is_no_number_at_all(self, place: Place, pair: tuple[Path, Path]) -> None:
        nodes = [*DISTANCE[:2], helper.make_node("ReduceMean", ["size"], ["mean"], keepdims=0)]
        nodes.append(helper.make_node("Identity", ["words"], ["out"]))
        held = {"words": np.array(["near"], dtype=object)}
        place(LPIPS, nodes, "ab", kind=TensorProto.STRING, constants=held)
        with pytest.raises(InfraFault, match="do not answer with numbers"):
            image_lpips(*pair)

    def test_an_answer_that_is_not_finite_is_not_held_against_the_picture(
        self, place: Place, pair: tuple[Path, Path]
    ) -> None:
        nodes = [*DISTANCE[:2], helper.make_node("ReduceMean", ["size"], ["mean"], keepdims=0)]
        nodes.append(helper.make_node("Div", ["mean", "nought"], ["out"]))
        place(LPIPS, nodes, "ab", constants={"nought": np.float32(0)})
        for one, other in (pair, pair[:1] * 2):  # infinite, and not a number
            with pytest.raises(InfraFault, match="not finite"):
                image_lpips(one, other)


class TestClip:
    """The network of these tests gives the means of the three channels of what it is fed."""

    MEAN, DEVIATION = np.array([0.48145466, 0.4578275, 0.40821073]), np.array([0.26862954, 0.26130258, 0.27577711])

    def fed(self, colour: Sequence[float]) -> Any:
        return (np.array(colour) / 255 - self.MEAN) / self.DEVIATION

    def test_the_cosine_is_the_closed_form_and_the_best_prompt_counts(self, place: Place, tmp_path: Path) -> None:
        place(CLIP, [MEANS])
        image, near, far = self.fed((200, 30, 90)), np.array([[1.0, -1.0, 0.5]]), np.array([-3.0, 0, 1])
        np.savez(place(PROMPTS), near=near, far=far, other=image)
        found = image_clip_cosine(flat(tmp_path / "a.png", (200, 30, 90)), prompts=["far", "near"])
        cosines = [float(image @ each.ravel() / np.linalg.norm(image) / np.linalg.norm(each)) for each in (far, near)]
        assert found.value == pytest.approx(max(cosines), abs=1e-5)
        assert "'near'" in found.comment
        # Whatever its length and type, an embedding along the image's has the cosine 1.
        np.savez(place(PROMPTS), only=(image * 1000).astype(np.float32))
        assert image_clip_cosine(flat(tmp_path / "b.png", (200, 30, 90)), prompts=["only"]).value == pytest.approx(1)

    @pytest.mark.parametrize("size", [(224, 224), (300, 500), (500, 300), (1, 40), (7, 3)])
    def test_every_size_becomes_the_one_it_takes(self, place: Place, tmp_path: Path, size: tuple[int, int]) -> None:
        place(CLIP, [MEANS], shape=(1, 3, 224, 224))
        np.savez(place(PROMPTS), hayao=self.fed((10, 200, 90)))
        found = image_clip_cosine(flat(tmp_path / "a.png", (10, 200, 90), size), prompts=["hayao"])
        assert found.value == pytest.approx(1, abs=1e-5)

    def test_the_middle_is_what_is_looked_at(self, place: Place, tmp_path: Path) -> None:
        place(CLIP, [MEANS])
        picture = np.zeros((224, 672, 3))
        picture[:] = (255, 0, 0)
        picture[:, 224:448] = (0, 0, 255)
        np.savez(place(PROMPTS), hayao=self.fed((0, 0, 255)))
        assert image_clip_cosine(save(tmp_path / "a.png", picture), prompts=["hayao"]).value == pytest.approx(1)

    @pytest.mark.parametrize(
        "text", [np.zeros(3), np.ones(4), np.ones(0), np.array([np.nan, 1, 1]), np.array([np.inf, 1, 1])]
    )
    def test_an_embedding_that_cannot_be_compared(self, place: Place, tmp_path: Path, text: Any) -> None:
        place(CLIP, [MEANS])
        np.savez(place(PROMPTS), hayao=text)
        with pytest.raises(InfraFault, match="hayao"):
            image_clip_cosine(flat(tmp_path / "a.png", (1, 2, 3)), prompts=["hayao"])

    def test_a_prompt_that_is_not_there(self, place: Place, tmp_path: Path) -> None:
        place(CLIP, [MEANS])
        np.savez(place(PROMPTS), other=np.ones(3))
        with pytest.raises(InfraFault, match=r"no embedding named hayao"):
            image_clip_cosine(flat(tmp_path / "a.png", (1, 2, 3)), prompts=["other", "hayao"])

    @pytest.mark.parametrize("kind", ["empty", "words", "zip", "array", "objects", "texts"])
    def test_a_broken_file_of_prompts(self, place: Place, tmp_path: Path, kind: str) -> None:
        place(CLIP, [MEANS])
        path = place(PROMPTS)
        if kind == "objects":
            np.savez(path, hayao=np.array([{}, []], dtype=object))
        elif kind == "texts":
            np.savez(path, hayao=np.array(["a", "b", "c"]))
        elif kind == "array":
            with path.open("wb") as stream:
                np.save(stream, np.ones(3))
        else:
            path.write_bytes({"empty": b"", "words": b"hayao", "zip": b"PK\3\4" + b"\0" * 60}[kind])
        with pytest.raises(InfraFault, match=PROMPTS):
            image_clip_cosine(flat(tmp_path / "a.png", (1, 2, 3)), prompts=["hayao"])


class TestVideo:
    """The network of these tests gives the channels' means as three of its thousand logits, the rest nought."""

    DEVIATION = np.array([0.229, 0.224, 0.225])

    @pytest.fixture
    def logits(self, place: Place) -> None:
        spread = np.zeros((3, 1000), np.float32)
        spread[range(3), range(3)] = 1
        mean = helper.make_node("ReduceMean", ["a"], ["means"], axes=[2, 3], keepdims=0)
        nodes = [mean, helper.make_node("MatMul", ["means", "spread"], ["out"])]
        place(INCEPTION, nodes, shape=(None, 3, 299, 299), constants={"spread": spread})

    @staticmethod
    def frames(levels: Sequence[int]) -> list[Any]:
        return [np.full((32, 48, 3), level) for level in levels]

    @pytest.mark.usefixtures("logits")
    def test_grey_frames_are_the_closed_form(self, tmp_path: Path) -> None:
        ours, theirs = [20, 60, 100, 140], [50, 60, 70, 80]
        clips = [film(tmp_path / f"{n}.avi", self.frames(each)) for n, each in enumerate((ours, theirs))]
        # All three channels move together, so that each set lies on one line: the formula of one dimension.
        spreads = [float(np.std(each, ddof=1)) / 255 for each in (ours, theirs)]
        means = [float(np.mean(each)) / 255 for each in (ours, theirs)]
        length = float(((1 / self.DEVIATION) ** 2).sum())
        wanted = length * ((means[0] - means[1]) ** 2 + (spreads[0] - spreads[1]) ** 2)
        assert video_logit_frechet(*clips).value == pytest.approx(wanted, rel=0.02)

    @pytest.mark.usefixtures("logits")
    def test_the_first_frames_count_as_many_as_both_have(self, tmp_path: Path) -> None:
        ours = film(tmp_path / "a.avi", self.frames([10, 200, 30]))
        theirs = film(tmp_path / "b.avi", self.frames([10, 200, 30, 90, 250, 4]))
        found = video_logit_frechet(ours, theirs)
        assert found.value == pytest.approx(0, abs=1e-3)
        assert "3 frames" in found.comment
        assert "2 frames" in video_logit_frechet(ours, theirs, most=2).comment

    @pytest.mark.usefixtures("logits")
    def test_one_frame_has_no_value(self, tmp_path: Path) -> None:
        one, two = film(tmp_path / "a.avi", self.frames([9])), film(tmp_path / "b.avi", self.frames([9, 80]))
        assert math.isnan(video_logit_frechet(one, two).value)

    def test_features_instead_of_logits_are_refused(self, place: Place, tmp_path: Path) -> None:
        place(INCEPTION, [MEANS])
        clip = film(tmp_path / "a.avi", self.frames([9, 80]))
        with pytest.raises(InfraFault, match="3 numbers, not the 1000"):
            video_logit_frechet(clip, clip)

    @pytest.mark.usefixtures("logits")
    def test_a_hostile_video(self, tmp_path: Path) -> None:
        good, bad = film(tmp_path / "a.avi", self.frames([9, 80])), tmp_path / "b.avi"
        bad.write_bytes(good.read_bytes()[:200])
        with pytest.raises(UnreadableOutput):
            video_logit_frechet(bad, good)
        with pytest.raises(InfraFault):
            video_logit_frechet(good, bad)
