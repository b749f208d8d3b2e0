/**
 * Runs the points of an experiment: {@link SessionRuntime} chooses the environment, {@code kind}
 * has the runner, and each kind of points is a declaration over it in a package of its own.
 *
 * <p>How to add a kind:
 *
 * <ol>
 *   <li>Describe its settings and metrics: {@code $defs/setting} and {@code $defs/metric} of {@code
 *       experiment.schema.json}, or {@code META-INF/doorbell/kind.json} in a jar of your own.
 *   <li>Write a record whose components have the names of the settings: {@code int size}, {@code
 *       TransferPath path}, {@code QueueSettings queues}. It is read once, and checked.
 *   <li>Extend {@code ExperimentKind} with that record; name the metrics in the constructor.
 *   <li>{@code check} refuses what is impossible; {@code predict} gives the closed forms.
 *   <li>Implement {@code Trial}: what is laid out and launched, and how it is verified.
 *   <li>{@code measure} opens worlds with {@code run.world()}, performs trials with {@code
 *       run.perform}, and adds samples and counters.
 *   <li>Name the class in {@code
 *       META-INF/services/dev.doorbell.experiments.scenario.kind.ExperimentKind}; a jar of your own
 *       goes on {@code DOORBELL_CLASSPATH}.
 * </ol>
 */
@NullMarked
package dev.doorbell.experiments.scenario;

import org.jspecify.annotations.NullMarked;
