/**
 * The instrument: from a question in a YAML file to samples, tables and figures.
 *
 * <p>This module alone wires back ends together. A config file becomes a plan, a point of the plan
 * becomes a session, and everything that is shown is a pure function of the samples kept on disk.
 */
@NullMarked
package dev.doorbell.experiments;

import org.jspecify.annotations.NullMarked;
