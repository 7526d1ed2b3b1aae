package amqp

// newTxMethod returns a zero method of class tx.
func newTxMethod(method uint16) Method {
	switch method {
	case 10:
		return new(TxSelect)
	case 11:
		return new(TxSelectOk)
	case 20:
		return new(TxCommit)
	case 21:
		return new(TxCommitOk)
	case 30:
		return new(TxRollback)
	case 31:
		return new(TxRollbackOk)
	}
	return nil
}

// TxSelect makes the channel transactional.
type TxSelect struct{ noArguments }

func (*TxSelect) ClassMethod() (class, method uint16) { return ClassTx, 10 }
func (*TxSelect) Name() string                        { return "tx.select" }

// TxSelectOk says that it is.
type TxSelectOk struct{ noArguments }

func (*TxSelectOk) ClassMethod() (class, method uint16) { return ClassTx, 11 }
func (*TxSelectOk) Name() string                        { return "tx.select-ok" }

// TxCommit carries out the publishes and acknowledgements since the last commit or rollback.
type TxCommit struct{ noArguments }

func (*TxCommit) ClassMethod() (class, method uint16) { return ClassTx, 20 }
func (*TxCommit) Name() string                        { return "tx.commit" }

// TxCommitOk says that they have been.
type TxCommitOk struct{ noArguments }

func (*TxCommitOk) ClassMethod() (class, method uint16) { return ClassTx, 21 }
func (*TxCommitOk) Name() string                        { return "tx.commit-ok" }

// TxRollback drops the publishes and acknowledgements since the last commit or rollback.
type TxRollback struct{ noArguments }

func (*TxRollback) ClassMethod() (class, method uint16) { return ClassTx, 30 }
func (*TxRollback) Name() string                        { return "tx.rollback" }

// TxRollbackOk says that they have been.
type TxRollbackOk struct{ noArguments }

func (*TxRollbackOk) ClassMethod() (class, method uint16) { return ClassTx, 31 }
func (*TxRollbackOk) Name() string                        { return "tx.rollback-ok" }
