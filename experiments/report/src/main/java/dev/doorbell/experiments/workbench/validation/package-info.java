/**
 * Published measurements beside the model: rows are read, each is bound to points of experiments,
 * the points run in virtual time, and the errors are summed up for each machine.
 *
 * <ol>
 *   <li>{@link RowFile} reads rows, {@link Bindings} the configs of those that come along
 *   <li>{@link RowConfig} is the text of a config, {@link RowPoints} makes points of it
 *   <li>{@link ModelMachine} is a topology that stands for machines of rows
 *   <li>{@link Validation} runs the points and gives a {@link CheckedRow} for each row
 *   <li>{@link RowErrors} sums them up, {@link ValidationResults} is all of it, {@link
 *       StoredResults} keeps it
 * </ol>
 */
@NullMarked
package dev.doorbell.experiments.workbench.validation;

import org.jspecify.annotations.NullMarked;
