package dev.doorbell.experiments.results.figures;

import dev.doorbell.experiments.plan.Influence;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.run.FakeRuntime;
import java.util.List;

/** A runtime that has only what figures ask of one: a prediction, what moves it, and a message. */
final class Explaining extends FakeRuntime {
  private final List<Influence> influences;

  Explaining(List<Influence> influences, Timeline timeline) {
    this.influences = influences;
    this.timeline = timeline;
  }

  @Override
  public Prediction predict(Point point) {
    return new Prediction(
        List.of(new Prediction.Term("latency", 2000, "ns", "T = 2000 ns", false)));
  }

  @Override
  public List<Influence> sensitivity(Point point, String metric, double share) {
    return influences;
  }
}
