/**
 * Runs the points of an experiment: {@link SessionRuntime} chooses the environment, {@code kind}
 * has the runner, and each kind of points is a declaration over it in a package of its own.
 *
 * <p>How to add a kind:
 *
 * <ol>
 *   <li>Add its settings to {@code experiment.schema.json}, and its metrics.
 *   <li>Write a record whose components have the names of the settings: {@code int size}, {@code
 *       TransferPath path}, {@code QueueSettings queues}. It is read once, and checked.
 *   <li>Extend {@code ExperimentKind} with that record, or {@code KernelKind} where one kernel
 *       makes the kind; name the metrics in the constructor.
 *   <li>{@code check} refuses what is impossible; {@code predict} gives the closed forms.
 *   <li>Implement {@code Trial}: what is laid out and launched, and how it is verified.
 *   <li>{@code measure} opens worlds with {@code run.world()}, performs trials with {@code
 *       run.perform}, and adds samples and counters.
 *   <li>List it in {@link SessionRuntime}, before the transfers, which take all other points.
 * </ol>
 */
@NullMarked
package dev.doorbell.experiments.scenario;

import org.jspecify.annotations.NullMarked;
