/**
 * Hostile inputs for every reader of files and messages: the contract of a target, the generator of
 * inputs, and the campaign that feeds one to the other.
 */
@NullMarked
package dev.doorbell.experiments.fuzz;

import org.jspecify.annotations.NullMarked;
