/**
 * Topology files: the shape of a node and every constant that modelled times rest on, each with its
 * source. Reading is strict, because a misspelt price would silently become another machine.
 */
@NullMarked
package dev.doorbell.experiments.topology;

import org.jspecify.annotations.NullMarked;
