package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/exposition"
)

func newMetrics() *cobra.Command {
	var which workbenchFlag
	var openMetrics, asJSON bool
	metrics := &cobra.Command{
		Use:   "metrics",
		Short: "Print the metrics of running workbenches for Prometheus",
		Long: `Print the metrics of all running workbenches in the text format of Prometheus, with the
process id of each as the label 'pid'. With --pid, print those of one workbench, as
'serve' answers at /metrics.`,
		Example: `  mcp-workbench metrics
  mcp-workbench metrics --pid 4711 --openmetrics   with exemplars
  mcp-workbench metrics | promtool check metrics`,
		Args: func(cmd *cobra.Command, args []string) error {
			if openMetrics && asJSON {
				return &usageError{err: errors.New("--openmetrics and --json exclude each other")}
			}
			return noArguments(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := readMetrics(cmd, which)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd, exposition.NewDocument(all))
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			if err := exposition.Write(out, all, openMetrics); err != nil {
				return err
			}
			return out.Flush()
		},
	}
	metrics.Flags().IntVar(&which.pid, "pid", 0, "process id of the workbench (default: all, with a label)")
	metrics.Flags().BoolVar(&openMetrics, "openmetrics", false, "write the format of OpenMetrics, which has exemplars")
	addJSONFlag(metrics, &asJSON, "write JSON instead")
	return metrics
}

// readMetrics returns the metrics of the selected workbenches. Of several, those that do not answer are named on stderr.
func readMetrics(cmd *cobra.Command, which workbenchFlag) ([]*dto.MetricFamily, error) {
	found, err := which.find(cmd.Context())
	if err != nil {
		return nil, err
	}
	var parts [][]*dto.MetricFamily
	for _, client := range found {
		families, err := client.Metrics(cmd.Context())
		if err != nil {
			err = fmt.Errorf("the workbench with process id %d shows no metrics: %w", client.Status.PID, err)
			if len(found) == 1 {
				return nil, err
			}
			tty.Remark(os.Stderr, err.Error())
			continue
		}
		if which.pid == 0 {
			exposition.Label(families, "pid", strconv.Itoa(client.Status.PID))
		}
		parts = append(parts, families)
	}
	return exposition.Merge(parts), nil
}
