/**
 * Conditions on points, and what is stated about them: expectations, crossovers and stopping rules.
 */
@NullMarked
package dev.doorbell.experiments.config.condition;

import org.jspecify.annotations.NullMarked;
