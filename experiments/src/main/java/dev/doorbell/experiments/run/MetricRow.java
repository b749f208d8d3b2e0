package dev.doorbell.experiments.run;

import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Samples;
import java.util.Optional;

/**
 * One sampled metric at one point, with what the model says about it.
 *
 * @param samples raw values with name and unit
 * @param model the closed form's value, where there is one; same unit
 */
public record MetricRow(Samples samples, Optional<Prediction.Term> model) {}
